export const Payment = () => <h1>Payment</h1>

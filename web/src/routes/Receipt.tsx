export const Receipt = () => <h1>Receipt</h1>

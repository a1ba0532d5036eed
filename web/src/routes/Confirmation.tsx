export const Confirmation = () => <h1>Confirmation</h1>

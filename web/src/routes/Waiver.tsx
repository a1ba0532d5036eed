export const Waiver = () => <h1>Waiver</h1>

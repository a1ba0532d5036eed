export const SignUp = ({ classType }: { classType: string }) => <h1>{classType}</h1>

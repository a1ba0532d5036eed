import type { Operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'
import { confirmSignUp } from './confirm-sign-up.ts'
import { getUser } from './get-user.ts'
import { initiateAuth } from './initiate-auth.ts'
import { respondToAuthChallenge } from './respond-to-auth-challenge.ts'
import { signUp } from './sign-up.ts'

/** Every operation, by its name in `X-Amz-Target`. */
export function operations(tokens: Tokens): Record<string, Operation> {
  return {
    SignUp: signUp,
    ConfirmSignUp: confirmSignUp,
    InitiateAuth: initiateAuth(tokens),
    RespondToAuthChallenge: respondToAuthChallenge(tokens),
    GetUser: getUser(tokens),
  }
}

import type { Operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'
import { confirmSignUp } from './confirm-sign-up.ts'
import { getUser } from './get-user.ts'
import { initiateAuth } from './initiate-auth.ts'
import { respondToAuthChallenge } from './respond-to-auth-challenge.ts'
import { createUserPool } from './create-user-pool.ts'
import { createUserPoolClient } from './create-user-pool-client.ts'
import { describeUserPool } from './describe-user-pool.ts'
import { describeUserPoolClient } from './describe-user-pool-client.ts'
import { getUserPoolMfaConfig } from './get-user-pool-mfa-config.ts'
import { listUserPoolClients } from './list-user-pool-clients.ts'
import { listUserPools } from './list-user-pools.ts'
import { setUserPoolMfaConfig } from './set-user-pool-mfa-config.ts'
import { signUp } from './sign-up.ts'

/** Every operation, by its name in `X-Amz-Target`. */
export function operations(tokens: Tokens): Record<string, Operation> {
  return {
    SignUp: signUp,
    ConfirmSignUp: confirmSignUp,
    InitiateAuth: initiateAuth(tokens),
    RespondToAuthChallenge: respondToAuthChallenge(tokens),
    GetUser: getUser(tokens),
    CreateUserPool: createUserPool,
    CreateUserPoolClient: createUserPoolClient,
    DescribeUserPool: describeUserPool,
    DescribeUserPoolClient: describeUserPoolClient,
    GetUserPoolMfaConfig: getUserPoolMfaConfig,
    ListUserPoolClients: listUserPoolClients,
    ListUserPools: listUserPools,
    SetUserPoolMfaConfig: setUserPoolMfaConfig,
  }
}

import type { Client } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

/**
 * The input of an authentication flow. Each flow checks the secret hash itself, because it knows the username in it.
 */
export interface Flow {
  client: Client
  parameters: Record<string, string>
  /** The session that ConfirmSignUp returned, to sign in without another proof. */
  session: string | undefined
  call: Call
  tokens: Tokens
}

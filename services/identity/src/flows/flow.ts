import type { Client } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

/** A way to begin a sign-in. Secret hashes are checked by each, since it knows the name that they are made with. */
export interface Flow {
  client: Client
  parameters: Record<string, string>
  /** What a confirmation of a sign-up answered, to sign in without another proof. */
  session: string | undefined
  call: Call
  tokens: Tokens
}

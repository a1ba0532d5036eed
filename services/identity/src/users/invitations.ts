import { randomInt } from 'node:crypto'
import { passwordSymbols } from '@robokids/contracts/password'
import type { Transaction } from '@robokids/runtime/db'
import { publishCode, type Destination } from '../factors/one-time-codes.ts'
import { invalid } from '../protocol/errors.ts'
import type { Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { User } from '../schema.ts'

/** Without characters that are easily confused when copied by hand. */
const alphabet = { capitals: 'ABCDEFGHJKLMNPQRSTUVWXYZ', small: 'abcdefghijkmnopqrstuvwxyz', digits: '23456789' }

/** Returns a temporary password that any policy accepts. */
export function temporaryPassword({ settings }: Pool): string {
  const pick = (from: string) => from[randomInt(from.length)] ?? ''
  const { capitals, small, digits } = alphabet
  const needed = [capitals, small, digits, passwordSymbols].map(pick)
  const length = Math.max(16, settings.passwordPolicy.minimumLength)
  const rest = Array.from({ length: length - needed.length }, () => pick(capitals + small + digits))
  const characters = [...needed, ...rest]
  for (let at = characters.length - 1; at > 0; at--) {
    const other = randomInt(at + 1)
    const moved = characters[at] ?? ''
    characters[at] = characters[other] ?? ''
    characters[other] = moved
  }
  return characters.join('')
}

export function temporaryPasswordEnd({ settings }: Pool, { context }: Call): Temporal.Instant {
  return context.clock.now().add({ hours: settings.passwordPolicy.temporaryPasswordDays * 24 })
}

/**
 * Sends a temporary password, sealed like codes.
 * @throws IdentityError InvalidParameterException if there is no address for it
 */
export async function invite(
  tx: Transaction,
  user: User,
  password: string,
  media: readonly Destination['medium'][] | undefined,
  expiresAt: Temporal.Instant,
  { context }: Call,
): Promise<void> {
  const { email, phone_number: phone } = user.attributes
  const known: Record<Destination['medium'], string | undefined> = { EMAIL: email, SMS: phone }
  const wished = media ?? (email === undefined && phone !== undefined ? ['SMS' as const] : ['EMAIL' as const])
  for (const medium of new Set(wished)) {
    const destination = known[medium]
    if (destination === undefined) {
      throw invalid(`User has no ${medium === 'EMAIL' ? 'email' : 'phone_number'} to send the invitation to.`)
    }
    const message = { purpose: 'invitation' as const, to: { medium, destination }, code: password, expiresAt }
    await publishCode(tx, user, message, context)
  }
}

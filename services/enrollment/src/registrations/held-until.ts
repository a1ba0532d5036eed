import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'

/** How long after a page has expired its outcome may still arrive. */
const outcomeGracePeriod = Temporal.Duration.from({ minutes: 5 })

/**
 * How long a seat is held for an opened payment page: until the page expires, however often it is opened.
 * @param expiresAt when the page expires; undefined from a BFF of the previous version.
 */
export function heldUntilFor(expiresAt: string | undefined, { clock, config }: Context<Config>): Temporal.Instant {
  const longest = clock.now().add({ minutes: config.HOLD_MINUTES })
  const end = expiresAt === undefined ? longest : Temporal.Instant.from(expiresAt).add(outcomeGracePeriod)
  return Temporal.Instant.compare(end, longest) < 0 ? end : longest
}

import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSamePerson, resolveOwnership, type AccountState, type Origin } from './rules.ts'

const start = Temporal.Instant.from('2026-11-28T12:00:00Z')
const at = (seconds: number) => start.add({ seconds })
const state = (
  userId: string,
  seconds: number,
  email: string | null,
  status: AccountState['status'] = 'active',
): AccountState => ({ userId, at: at(seconds), email, emailKey: email, status })
const origin = (seconds: number, email: string, ownerId: string | null = null): Origin => ({
  at: at(seconds),
  email,
  emailKey: email,
  ownerId,
})

describe('the owner of a purchase', () => {
  it('is the signed-in account, whatever address was entered', () => {
    expect(resolveOwnership(origin(5, 'x'), [])).toMatchObject({ ownerId: null, emailKey: 'x' })
    const states = [state('u', 0, 'a'), state('v', 0, 'x')]
    expect(resolveOwnership(origin(5, 'x', 'u'), states)).toMatchObject({ ownerId: 'u', emailKey: 'x' })
    // An address that is not the account's own stays when that changes, but an old one of its own does not.
    expect(resolveOwnership(origin(5, 'x', 'u'), [...states, state('u', 9, 'b')])).toMatchObject({ emailKey: 'x' })
  })

  it('has the current address of the account if an old one of its own was entered', () => {
    const states = [state('u', 0, 'a'), state('u', 2, 'b'), state('v', 3, 'a'), state('u', 9, 'c')]
    expect(resolveOwnership(origin(5, 'a', 'u'), states.slice(0, 3))).toMatchObject({ ownerId: 'u', emailKey: 'b' })
    expect(resolveOwnership(origin(5, 'a', 'u'), states)).toMatchObject({ ownerId: 'u', emailKey: 'c' })
  })

  it('is the first account that has the entered address, then or later', () => {
    const before = [state('u', 0, 'a')]
    expect(resolveOwnership(origin(5, 'a'), before)).toMatchObject({ ownerId: 'u', ownedAt: at(5) })
    expect(resolveOwnership(origin(5, 'a'), [state('u', 7, 'a')])).toMatchObject({ ownerId: 'u', ownedAt: at(7) })
    const moved = [state('u', 0, 'a'), state('u', 6, 'b'), state('v', 8, 'a')]
    expect(resolveOwnership(origin(5, 'a'), moved)).toMatchObject({ ownerId: 'u', emailKey: 'b' })
    // A purchase made after the first account has changed its address belongs to the next one.
    expect(resolveOwnership(origin(7, 'a'), moved)).toMatchObject({ ownerId: 'v', emailKey: 'a' })
  })

  it('follows the account to its next address, even if another account took the old one meanwhile', () => {
    const states = [state('u', 0, 'a'), state('u', 6, null), state('v', 7, 'a'), state('u', 9, 'b')]
    expect(resolveOwnership(origin(5, 'a'), states)).toMatchObject({ ownerId: 'u', emailKey: 'b' })
  })

  it('is nobody once the account is deleted, until the next one verifies the address', () => {
    const gone = [state('u', 0, 'a'), state('u', 6, 'b'), state('u', 8, 'b', 'deleted')]
    const left = { ownerId: null, emailKey: 'b', accountEndedAt: at(8) }
    expect(resolveOwnership(origin(5, 'a'), gone)).toMatchObject(left)
    expect(resolveOwnership(origin(5, 'a'), [...gone, state('v', 9, 'a')])).toMatchObject(left)
    expect(resolveOwnership(origin(5, 'a'), [...gone, state('v', 9, 'b')])).toMatchObject({ ...left, ownerId: 'v' })
    // A page that was open when the account was deleted, with that account signed in.
    expect(resolveOwnership(origin(9, 'x', 'u'), gone)).toMatchObject({ ownerId: null, accountEndedAt: at(8) })
    // A purchase without an account at the freed address is unrelated to the deleted account.
    expect(resolveOwnership(origin(9, 'b'), gone)).toMatchObject({ ownerId: null, accountEndedAt: null })
  })

  it('stays an account that is disabled, with the time of that', () => {
    const states = [state('u', 0, 'a'), state('u', 6, 'a', 'disabled'), state('u', 7, 'a')]
    expect(resolveOwnership(origin(5, 'a'), states)).toMatchObject({ ownerId: 'u', accountEndedAt: at(6) })
    expect(resolveOwnership(origin(8, 'a'), states)).toMatchObject({ ownerId: 'u', accountEndedAt: null })
  })

  const users = ['u', 'v', 'w']
  const addresses = ['a', 'b', 'c']
  /** Histories of a few accounts that share a few addresses; each verifies one at a time, and a deleted one stays deleted. */
  const historiesWith = (minPause: number) =>
    fc
      .array(
        fc.record({
          user: fc.constantFrom(...users),
          email: fc.option(fc.constantFrom(...addresses), { freq: 6 }),
          status: fc.constantFrom<AccountState['status']>('active', 'active', 'active', 'disabled', 'deleted'),
          pause: fc.integer({ min: minPause, max: 3 }),
        }),
        { maxLength: 12 },
      )
      .map((steps) => {
        let now = 0
        return steps.map(({ user, email, status, pause }) => state(user, (now += pause), email, status))
      })
  const purchases = fc.record({
    seconds: fc.integer({ min: -1, max: 25 }),
    email: fc.constantFrom(...addresses),
    ownerId: fc.option(fc.constantFrom(...users)),
  })

  it('does not depend on the order or the number of deliveries of account events', () => {
    fc.assert(
      fc.property(
        // Some at the very same moment.
        historiesWith(0).chain((states) =>
          fc.tuple(
            fc.constant(states),
            fc.shuffledSubarray([...states, ...states], { minLength: 2 * states.length }),
            purchases,
          ),
        ),
        ([states, arrived, { seconds, email, ownerId }]) => {
          const bought = origin(seconds, email, ownerId)
          expect(resolveOwnership(bought, arrived)).toEqual(resolveOwnership(bought, states))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  it('never changes while the account is not deleted, nor becomes an account that never had the address', () => {
    fc.assert(
      fc.property(historiesWith(1), purchases, (states, { seconds, email, ownerId }) => {
        const bought = origin(seconds, email, ownerId)
        let before = resolveOwnership(bought, [])
        for (let count = 1; count <= states.length; count++) {
          const known = states.slice(0, count)
          const now = resolveOwnership(bought, known)
          const last = known.at(-1)
          const isLater = last !== undefined && Temporal.Instant.compare(last.at, bought.at) > 0
          const deleted = known.some((one) => one.userId === before.ownerId && one.status === 'deleted')
          if (isLater && before.ownerId !== null && !deleted) expect(now.ownerId).toBe(before.ownerId)
          if (now.ownerId !== null && now.ownerId !== ownerId) {
            expect(known.some((one) => one.userId === now.ownerId && addresses.includes(one.emailKey ?? ''))).toBe(true)
          }
          before = now
        }
      }),
      { numRuns: 2_000 },
    )
  })
})

describe('isSamePerson', () => {
  it('compares accounts, or addresses if one of the purchases has no account', () => {
    const [u, v] = [randomUUIDv7(), randomUUIDv7()]
    const one = (ownerId: string | null, emailKey: string) => ({ ownerId, emailKey })
    expect(isSamePerson(one(u, 'a'), one(u, 'b'))).toBe(true)
    expect(isSamePerson(one(u, 'a'), one(v, 'a'))).toBe(false)
    expect(isSamePerson(one(u, 'a'), one(null, 'a'))).toBe(true)
    expect(isSamePerson(one(null, 'a'), one(null, 'b'))).toBe(false)
  })
})

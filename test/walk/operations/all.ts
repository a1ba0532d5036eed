import * as fc from 'fast-check'
import { operation, type Operation } from '../operation.ts'
import { settle } from '../settle.ts'
import { checkSettled } from '../check.ts'
import { accountOperations } from './accounts.ts'
import { catalogueOperations } from './catalogue.ts'
import { changeOperations } from './changes.ts'
import { faultOperations } from './faults.ts'
import { membershipOperations } from './memberships.ts'
import { memberClassOperations } from './member-classes.ts'
import { moneyOperations } from './money.ts'
import { orderOperations } from './orders.ts'
import { payingOperations } from './paying.ts'
import { registrationOperations } from './registrations.ts'
import { strangerOperations } from './strangers.ts'
import { waitlistOperations } from './waitlist.ts'
import { waiverOperations } from './waivers.ts'

/** Operations that can run concurrently. */
const people: Operation[] = [
  ...registrationOperations,
  ...orderOperations,
  ...membershipOperations,
  ...memberClassOperations,
  ...waiverOperations,
  ...waitlistOperations,
  ...changeOperations,
  ...strangerOperations,
  ...accountOperations,
  ...payingOperations,
  ...moneyOperations,
  ...catalogueOperations,
]

/** Any of them, as half of a pair, in a serializable form. */
const oneOf = fc.oneof(
  ...people.map(({ name, args, weight }) => ({
    weight,
    arbitrary: (args as fc.Arbitrary<unknown>).map((given) => ({ name, args: given })),
  })),
)

const byName = new Map(people.map((one) => [one.name, one]))

export const bothName = 'at the same time'
const both = operation(bothName, {
  weight: 8,
  args: fc.tuple(oneOf, oneOf),
  possible: () => true,
  async run(walk, pair) {
    walk.isConcurrent = true
    const outcomes = await Promise.allSettled(
      pair.map(async ({ name, args }) => {
        const one = byName.get(name)
        if (one?.possible(walk)) await one.run(walk, args as never)
      }),
    )
    walk.isConcurrent = false
    for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason
  },
})

const settling = operation('all settles', {
  weight: 2,
  args: fc.constant(null),
  async run(walk) {
    await settle(walk)
    await checkSettled(walk)
  },
})

/** All operations. A new feature adds its operations here, in the file of its area. */
export const operations: readonly Operation[] = [...people, ...faultOperations, both, settling]

import * as fc from 'fast-check'
import { refundReasonOf, waitForPublished } from '../money.ts'
import { operation, pick } from '../operation.ts'
import { Violation } from '../violation.ts'
import type { Purchase, Registered, Walk } from '../walk.ts'

const which = fc.nat(11)
const paid = (walk: Walk): Registered[] =>
  walk.registrations.filter(({ id }) => walk.pages.some(({ of }) => of.id === id))

/**
 * Runs an action that is forbidden once the payment is being refunded: it may succeed only if the payment is kept, or
 * if it was done before.
 */
async function checkNotRefunded(
  walk: Walk,
  purchase: Purchase,
  what: string,
  act: () => Promise<{ status: number; again: boolean }>,
) {
  const back = await refundReasonOf(walk, purchase)
  // All services have handled the refund's events.
  if (back !== undefined) await waitForPublished(walk)
  const { status, again } = await act()
  if (status === 200 && back !== undefined && !again)
    throw new Violation('nothing goes out for money that goes back', `${what} of ${purchase.id}: ${back}`)
}

async function isSigned(walk: Walk, id: string): Promise<boolean> {
  const rows = await walk.world.system.sql('enrollment')`
    select 1 from waivers where registration_id = ${id} or membership_id = ${id}`
  return rows.length > 0
}

async function isShipped(walk: Walk, id: string): Promise<boolean> {
  const rows = await walk.world.system.sql('enrollment')`
    select 1 from kit_shipments where registration_id = ${id} and status = 'shipped'`
  return rows.length > 0
}

export const waiverOperations = [
  operation('sign the waiver', {
    weight: 5,
    args: fc.record({ which, byLink: fc.boolean() }),
    possible: (walk) => paid(walk).length > 0,
    async run(walk, { which, byLink }) {
      const registered = pick(paid(walk).toReversed(), which)
      const { guardianName, childName, email, startDate, classType } = registered.body
      const names = { guardianName, childName, email, startDate, classType }
      const body = byLink ? { ...names, registrationId: registered.id } : names
      const again = await isSigned(walk, registered.id)
      const sign = async () => {
        const { status } = await walk.ask(pick(registered.family.browsers, 0), 'POST', '/api/waivers', body)
        // The details may match another registration of the same child.
        return { status: status === 200 && !(await isSigned(walk, registered.id)) ? 0 : status, again }
      }
      await checkNotRefunded(walk, registered, 'the waiver was signed', sign)
    },
  }),

  operation('sign a member’s waiver', {
    args: fc.record({ which }),
    possible: (walk) => walk.memberships.length > 0,
    async run(walk, { which }) {
      const { id, family, email, date } = pick(walk.memberships, which)
      await walk.ask(pick(family.browsers, 0), 'POST', '/api/waivers', {
        registrationId: id,
        guardianName: `${family.name} Holt`,
        ...family.children[0],
        email,
        startDate: date,
        classType: 'membership',
        addressLine1: '14 Alder Way',
        city: 'San Mateo',
        state: 'CA',
        zipCode: '94401',
      })
    },
  }),

  operation('ship a kit', {
    weight: 4,
    args: fc.record({ which, number: fc.nat(1) }),
    possible: (walk) => paid(walk).length > 0,
    async run(walk, { which, number }) {
      const registered = pick(paid(walk).toReversed(), which)
      const again = await isShipped(walk, registered.id)
      const body = { carrier: 'UPS', trackingNumber: `1Z${number}` }
      const ship = async () => {
        const { status } = await walk.operate('enrollment', 'POST', `/kits/${registered.id}/ship`, body)
        return { status, again }
      }
      await checkNotRefunded(walk, registered, 'the kit was shipped', ship)
    },
  }),

  operation('ship an order', {
    weight: 4,
    args: fc.record({ which, number: fc.nat(1) }),
    possible: (walk) => walk.orders.length > 0,
    async run(walk, { which, number }) {
      const ordered = pick(walk.orders.toReversed(), which)
      const trackingNumber = `1Z${number}`
      const before = await walk.operate('billing', 'GET', `/orders/${ordered.id}`)
      const ship = async () => {
        const { status } = await walk.operate('billing', 'POST', `/orders/${ordered.id}/shipment`, { trackingNumber })
        return { status, again: before.body['shippedAt'] !== null }
      }
      const isOther = before.body['shippedAt'] && before.body['trackingNumber'] !== trackingNumber
      if (isOther) {
        const { status } = await ship()
        if (status === 200)
          throw new Violation(
            'a parcel has one number',
            `${ordered.id} was shipped as ${String(before.body['trackingNumber'])}`,
          )
      } else await checkNotRefunded(walk, ordered, 'the order was shipped', ship)
    },
  }),
]

import { randomUUID } from 'node:crypto'
import * as fc from 'fast-check'
import { paymentsOf, refundable } from '../money.ts'
import { operation, pick } from '../operation.ts'
import { chargesOf } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

const which = fc.nat(11)
const shares = { all: 1, quarter: 0.25, most: 0.75 } as const
type Share = keyof typeof shares
const share = fc.constantFrom<Share>('all', 'all', 'quarter', 'most')
const shareOf = (amount: number, share: Share) => Math.ceil(amount * shares[share])
const hasMoney = (walk: Walk) => refundable(walk).length > 0
/** Refunds that the bank has not decided. */
const undecided = (walk: Walk) =>
  chargesOf(walk).flatMap(({ refunds }) =>
    refunds.filter(({ id }) => walk.world.system.provider.refunds.get(id)?.settlement),
  )

const openDisputes = (walk: Walk) =>
  chargesOf(walk).flatMap(({ dispute }) => (dispute && !['won', 'lost'].includes(dispute.status) ? [dispute] : []))

export const moneyOperations = [
  operation('give money back', {
    weight: 6,
    args: fc.record({ which, share, byReceipt: fc.boolean() }),
    possible: hasMoney,
    async run(walk, { which, share, byReceipt }) {
      const { of, intentId, kept } = pick(refundable(walk).toReversed(), which)
      const payment = (await paymentsOf(walk, of)).find((one) => one.intentId === intentId)
      const receiptNumber = payment?.receiptNumber
      const by =
        of.kind === 'registration' && !byReceipt
          ? { registrationId: of.id }
          : receiptNumber
            ? { receiptNumber }
            : undefined
      if (!by) return
      const amount = share !== 'all' ? { amount: shareOf(kept, share) } : {}
      await walk.operate('billing', 'POST', '/refunds', { ...by, ...amount, refundId: randomUUID() })
    },
  }),

  operation('give back what is owed', {
    weight: 3,
    args: fc.record({ which, share }),
    possible: (walk) => refundable(walk).some(({ refunds }) => refunds.some(({ status }) => status === 'failed')),
    async run(walk, { which, share }) {
      const owed = refundable(walk).filter(({ refunds }) => refunds.some(({ status }) => status === 'failed'))
      const { of, intentId, kept, dispute } = pick(owed, which)
      const payment = (await paymentsOf(walk, of)).find((one) => one.intentId === intentId)
      if (!payment || dispute) return
      const amount = Math.min(kept, payment.amount - payment.back)
      if (amount === 0) return
      const body = { paymentId: payment.id, refundId: randomUUID(), amount: shareOf(amount, share) }
      const answer = await walk.operate('billing', 'POST', '/refunds', body)
      // The provider may have a refund that billing has not recorded yet.
      if (answer.status >= 400 && answer.status < 500 && answer.body['code'] !== 'refund_not_possible')
        throw new Violation('what is owed can be given back', `${of.id}: ${JSON.stringify(answer.body)}`)
    },
  }),

  operation('give money back in the provider’s dashboard', {
    args: fc.record({ which, share }),
    possible: hasMoney,
    async run(walk, { which, share }) {
      const { charge, kept } = pick(refundable(walk).toReversed(), which)
      const amount = String(shareOf(kept, share))
      await walk.world.atProvider('POST', '/v1/refunds', { charge: charge.id, amount })
    },
  }),

  operation('the bank answers a refund', {
    weight: 4,
    args: fc.record({ which }),
    possible: (walk) => undecided(walk).length > 0,
    async run(walk, { which }) {
      await walk.world.control(`refunds/${pick(undecided(walk), which).id}/settle`)
    },
  }),

  operation('a payment is disputed', {
    args: fc.record({ which }),
    possible: hasMoney,
    async run(walk, { which }) {
      await walk.world.control(`charges/${pick(refundable(walk).toReversed(), which).charge.id}/dispute`)
    },
  }),

  operation('a dispute ends', {
    weight: 3,
    args: fc.record({ which, outcome: fc.constantFrom('won', 'lost') }),
    possible: (walk) => openDisputes(walk).length > 0,
    async run(walk, { which, outcome }) {
      await walk.world.control(`disputes/${pick(openDisputes(walk), which).id}/close`, { outcome })
    },
  }),
]

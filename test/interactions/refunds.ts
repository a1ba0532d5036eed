import { randomUUIDv7 } from 'node:crypto'
import { robotSpider } from '@robokids/contracts/products'
import { describe, expect, it } from 'vitest'
import { eventually } from '../src/bed.ts'
import { cards, idOf, refusalOf, type Stage } from './stage.ts'

const spider = [{ sku: robotSpider, quantity: 1 }]

/** Refunds while what was paid for is signed, shipped or disputed. */
export function refundInteractions(stage: () => Stage): void {
  const intentOf = (id: string) => idOf(stage().charges(id)[0]?.payment_intent)
  const atDashboard = (id: string, fields: Record<string, string> = {}) =>
    stage().atProvider('POST', '/v1/refunds', { payment_intent: intentOf(id), ...fields })
  const shipOrder = (id: string, trackingNumber = '1Z 999') =>
    stage().operate('billing', 'POST', `/orders/${id}/shipment`, { trackingNumber })

  describe('Refunds', () => {
    it('A refund concurrent with signing the waiver cancels the registration, and nothing ships', async () => {
      const families = await Promise.all(Array.from({ length: 3 }, () => stage().enrolled()))
      const answers = await Promise.all(families.flatMap((family) => [stage().refund(family.id), stage().sign(family)]))
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      await stage().settled()
      for (const { id } of families) {
        expect([(await stage().registration(id)).status, stage().kept(id)]).toEqual(['cancelled', 0])
        expect(refusalOf(await stage().ship(id))).toBe('kit_not_ready')
      }
    })

    it('A refund concurrent with shipping the kit is made once, and the kit ships at most once', async () => {
      const families = await Promise.all(Array.from({ length: 3 }, () => stage().enrolled()))
      for (const family of families) expect((await stage().sign(family)).status).toBe(200)
      const answers = await Promise.all(families.flatMap(({ id }) => [stage().refund(id), stage().ship(id)]))
      expect(answers.filter(({ status }) => status !== 200 && status !== 409)).toEqual([])
      await stage().settled()
      for (const { id } of families) {
        expect([(await stage().registration(id)).status, stage().kept(id)]).toEqual(['cancelled', 0])
        expect(stage().refunds(id)).toHaveLength(1)
      }
    })

    it('A refund concurrent with shipping an order leaves a consistent state and mail', async () => {
      const order = await stage().bought(spider)
      const [refunded, shipped] = await Promise.all([stage().refund(order.id), shipOrder(order.id)])
      expect(refunded.status).toBe(200)
      expect([200, 'order_not_shippable']).toContain(refusalOf(shipped))
      await stage().settled()
      const { status, shippedAt } = await stage().readOrder(order.id)
      expect([status, shippedAt !== null, stage().kept(order.id)]).toEqual(['refunded', shipped.status === 200, 0])
      const subjects = await stage().subjects(order.email)
      expect(subjects.filter((subject) => /on its way|shipped/i.test(subject))).toHaveLength(shippedAt ? 1 : 0)
      expect(refusalOf(await shipOrder(order.id, 'another'))).not.toBe(200)
    })

    it('Concurrent refunds in the provider’s dashboard and by us return what was paid, and no more', async () => {
      const family = await stage().enrolled()
      const [ours] = await Promise.all([stage().refund(family.id), atDashboard(family.id)])
      expect([200, 'refund_not_possible']).toContain(refusalOf(ours))
      await stage().system.reaches(family.id, 'cancelled')
      await stage().settled()
      expect(stage().kept(family.id)).toBe(0)
      expect(refusalOf(await stage().refund(family.id))).toBe('refund_not_possible')
      expect((await stage().subjects(family.body.email)).filter((subject) => /refund/i.test(subject))).toHaveLength(1)
    })

    it('A refund of more than is left after one in the dashboard is rejected with a message, and the rest can be refunded', async () => {
      const family = await stage().enrolled()
      await stage().pauseWebhooks()
      await atDashboard(family.id, { amount: '30000' })
      expect(refusalOf(await stage().refund(family.id))).toBe('refund_not_possible')
      await stage().releaseWebhooks()
      await stage().settled()
      expect((await stage().registration(family.id)).status).toBe('confirmed')
      expect(await stage().refund(family.id)).toMatchObject({ status: 200, body: { amount: 10_000 } })
      await stage().system.reaches(family.id, 'cancelled')
      expect(stage().kept(family.id)).toBe(0)
    })

    it('An order can be shipped after the provider rejected its refund', async () => {
      const order = await stage().bought(spider)
      await stage().fault('/v1/refunds', { kind: 'error', method: 'POST', status: 400, times: 1 })
      expect(refusalOf(await stage().refund(order.id))).toBe('refund_not_possible')
      await stage().settled()
      expect((await shipOrder(order.id)).status).toBe(200)
      expect(await stage().readOrder(order.id)).toMatchObject({ status: 'shipped' })
      expect(stage().kept(order.id)).toBe(30_000)
    })

    it('A waiver can be signed and the kit shipped after the provider rejected the refund', async () => {
      const family = await stage().enrolled()
      await stage().fault('/v1/refunds', { kind: 'error', method: 'POST', status: 400, times: 1 })
      expect(refusalOf(await stage().refund(family.id))).toBe('refund_not_possible')
      await stage().settled()
      expect((await stage().sign(family)).status).toBe(200)
      expect((await stage().ship(family.id)).status).toBe(200)
    })

    it('A pending partial refund does not block signing and shipping', async () => {
      const family = await stage().enrolled({}, cards.slowRefund)
      expect((await stage().refund(family.id, 15_000)).status).toBe(200)
      await stage().settled()
      expect((await stage().sign(family)).status).toBe(200)
      expect((await stage().ship(family.id)).status).toBe(200)
      expect((await stage().registration(family.id)).status).toBe('waiver_signed')
    })

    it('A pending refund blocks signing until it completes and the registration is cancelled', async () => {
      const family = await stage().enrolled({}, cards.slowRefund)
      expect((await stage().refund(family.id)).status).toBe(200)
      await stage().settled()
      expect((await stage().sign(family)).status).toBe(409)
      const [refund] = stage().refunds(family.id)
      await stage().control(`refunds/${refund?.id}/settle`)
      await stage().system.reaches(family.id, 'cancelled')
      expect((await stage().sign(family)).status).toBe(409)
    })

    it('A refund requested by two operators at once, through two processes, is made once', async () => {
      const family = await stage().enrolled()
      const second = await stage().system.another('billing', { RECONCILE_EVERY_MS: '3600000' })
      try {
        const ask = (url: string, refundId: string) =>
          fetch(`${url}/refunds`, {
            method: 'POST',
            headers: { 'x-admin-secret': 'local-admin', 'content-type': 'application/json' },
            body: JSON.stringify({ registrationId: family.id, refundId }),
          })
        const [one, other] = [randomUUIDv7(), randomUUIDv7()]
        const first = stage().system.processes.billing.url
        const asked = [ask(first, one), ask(second.url, one), ask(second.url, other), ask(first, other)]
        const statuses = (await Promise.all(asked)).map(({ status }) => status)
        expect(statuses.toSorted((a, b) => a - b)).toEqual([200, 200, 409, 409])
      } finally {
        await second.stop()
      }
      await stage().system.reaches(family.id, 'cancelled')
      await stage().settled()
      expect([stage().kept(family.id), stage().refunds(family.id).length]).toEqual([0, 1])
    })

    it('A refund during which billing was killed is made once after the restart', async () => {
      const family = await stage().enrolled()
      await stage().fault('/v1/refunds', { kind: 'delay', method: 'POST', delayMs: 1_500, when: 'after' })
      const asking = stage()
        .refund(family.id)
        .catch(() => undefined)
      await eventually(() => stage().refunds(family.id).length === 1)
      await stage().system.processes.billing.kill()
      await asking
      await stage().system.processes.billing.start()
      await stage().system.sql('billing')`update refunds set next_try_at = now() where status = 'pending'`
      await stage().system.wake('billing', 'run-refunds')
      await stage().system.reaches(family.id, 'cancelled')
      await stage().settled()
      expect([stage().kept(family.id), stage().refunds(family.id).length]).toEqual([0, 1])
    })
  })

  describe('Disputes', () => {
    it('A dispute blocks the waiver and the kit until it is won', async () => {
      const family = await stage().enrolled()
      const [charge] = stage().charges(family.id)
      const { body: dispute } = await stage().control(`charges/${charge?.id}/dispute`, { reason: 'fraudulent' })
      await stage().settled()
      expect((await stage().sign(family)).status).toBe(409)
      expect(refusalOf(await stage().ship(family.id))).toBe('kit_not_ready')
      await stage().control(`disputes/${String(dispute['id'])}/close`, { outcome: 'won' })
      await stage().settled()
      expect((await stage().sign(family)).status).toBe(200)
      expect((await stage().ship(family.id)).status).toBe(200)
    })

    it('A dispute concurrent with a refund returns nothing twice, and the rest can be refunded once it is won', async () => {
      const family = await stage().enrolled()
      const [charge] = stage().charges(family.id)
      const [dispute, refunded] = await Promise.all([
        stage().control(`charges/${charge?.id}/dispute`, { reason: 'duplicate' }),
        stage().refund(family.id, 10_000),
      ])
      expect([200, 'refund_not_possible']).toContain(refusalOf(refunded))
      await stage().settled()
      const { id: disputeId } = dispute.body
      if (typeof disputeId === 'string') {
        expect(refusalOf(await stage().refund(family.id))).toBe('refund_not_possible')
        await stage().control(`disputes/${disputeId}/close`, { outcome: 'won' })
        await stage().settled()
      }
      expect((await stage().refund(family.id)).status).toBe(200)
      await stage().system.reaches(family.id, 'cancelled')
      await stage().settled()
      expect(stage().kept(family.id)).toBe(0)
    })

    it('Winning a dispute does not resume a membership that was cancelled during it', async () => {
      const { browser, id } = await stage().member()
      const [charge] = stage().charges(id)
      const { body: dispute } = await stage().control(`charges/${charge?.id}/dispute`, { reason: 'fraudulent' })
      await stage().settled()
      expect((await browser.post('/api/membership/cancel')).status).toBe(200)
      await stage().control(`disputes/${String(dispute['id'])}/close`, { outcome: 'won' })
      await stage().settled()
      const { endsAt, paidUntil, nextCharge } = await browser.membership()
      expect([endsAt, nextCharge]).toEqual([paidUntil, null])
      await stage().passPeriod(id)
      await stage().settled()
      expect(stage().charges(id)).toHaveLength(1)
      expect((await browser.membership()).status).toBe('ended')
    })
  })
}

import { z } from 'zod'
import { expect, it } from 'vitest'
import { paymentIdOf } from './payment-id.ts'

it('The id of a payment is a UUID, the same for the same payment intent and different for others', () => {
  const ids = ['pi_1', 'pi_1', 'pi_2', 'pi_3'].map(paymentIdOf)
  expect(ids[0]).toBe(ids[1])
  expect(new Set(ids).size).toBe(3)
  for (const id of ids) expect(z.uuid().parse(id)).toMatch(/^.{14}8.{4}[89ab]/)
})

import { classSku, pricesSchema } from '@robokids/contracts/billing'
import type { ClassesView } from '@robokids/contracts/bff'
import { classTimeZone } from '@robokids/contracts/class-date'
import { classesSchema } from '@robokids/contracts/enrollment'
import { DomainError } from '@robokids/runtime/errors'
import type { Services } from '../upstream.ts'

function lastDayOf(endsAt: string): string {
  const lastInstant = Temporal.Instant.from(endsAt).subtract({ milliseconds: 1 })
  return lastInstant.toZonedDateTimeISO(classTimeZone).toPlainDate().toString()
}

/** The levels with their open dates, current prices and the active promotion. */
export async function classesView({ enrollment, billing }: Services): Promise<ClassesView> {
  const [{ levels }, { prices, promotions }] = await Promise.all([
    enrollment.call('GET', '/classes', { answer: classesSchema }),
    billing.call('GET', '/prices', { answer: pricesSchema }),
  ])
  const promotion = promotions[0]
  return {
    levels: levels.map((level) => {
      const price = prices.find((candidate) => candidate.sku === classSku(level.classType))
      if (!price) throw new DomainError('upstream_unavailable', 'Please try again in a moment.')
      return { ...level, price: { amount: price.amount, currency: price.currency } }
    }),
    promotion: promotion
      ? { promotionId: promotion.promotionId, classTypes: promotion.classTypes, lastDay: lastDayOf(promotion.endsAt) }
      : null,
  }
}

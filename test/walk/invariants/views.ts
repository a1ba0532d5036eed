import { registrationViewSchema } from '@robokids/contracts/bff'
import { orderSchema } from '@robokids/contracts/shop'
import { chargesOf } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Purchase, Walk } from '../walk.ts'

const sum = (refunds: { amount: number; status: string | null }[]) =>
  refunds.filter(({ status }) => status !== 'failed').reduce((total, { amount }) => total + amount, 0)

/** What a family sees of a thing is what the services and the provider have. For when all has settled. */
export async function viewsAgree(walk: Walk): Promise<void> {
  const charges = Map.groupBy(chargesOf(walk), ({ of }) => of.id)
  await Promise.all(
    [...walk.registrations, ...walk.orders].map(async (purchase) => {
      const path = purchase.kind === 'order' ? 'orders' : 'registrations'
      const browser = purchase.family.browsers[0]
      const answer = await browser?.ask('GET', `/api/${path}/${purchase.id}`)
      if (answer?.status !== 200)
        throw new Violation('what was made can be seen', `${path}/${purchase.id} was answered ${answer?.status}`)
      const paid = charges.get(purchase.id) ?? []
      const back = sum(paid.flatMap(({ refunds }) => refunds))
      const disputes = paid.filter(({ dispute }) => dispute).length
      const shown = shownOf(purchase, answer.body)
      compare(purchase, 'what went back', shown.back, back)
      compare(purchase, 'disputes', shown.disputes, disputes)
      compare(purchase, 'whether it is paid', shown.isPaid, paid.length > 0)
    }),
  )
}

function compare({ kind, id }: Purchase, what: string, shown: unknown, is: unknown): void {
  if (shown !== is)
    throw new Violation(
      'what is shown is so',
      `${kind} ${id}: ${what} is shown as ${String(shown)}, and is ${String(is)}`,
    )
}

function shownOf({ kind }: Purchase, body: unknown): { back: number; disputes: number; isPaid: boolean } {
  if (kind === 'order') {
    const { refunds, disputes = [], paidAt } = orderSchema.parse(body)
    return { back: sum(refunds), disputes: disputes.length, isPaid: paidAt !== null }
  }
  const { checkout } = registrationViewSchema.parse(body)
  return {
    back: sum(checkout?.refunds ?? []),
    disputes: checkout?.disputes.length ?? 0,
    isPaid: (checkout?.paidAt ?? null) !== null,
  }
}

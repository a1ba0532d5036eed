import { adminRegistrationsSchema, registrationViewSchema } from '@robokids/contracts/bff'
import { orderSchema } from '@robokids/contracts/shop'
import { localAdminSecret } from '@robokids/runtime/config'
import { Browser } from '../browser.ts'
import { chargesOf } from '../provider.ts'
import { Violation } from '../violation.ts'
import type { Purchase, Walk } from '../walk.ts'

const sum = (refunds: { amount: number; status: string | null }[]) =>
  refunds.filter(({ status }) => status !== 'failed').reduce((total, { amount }) => total + amount, 0)

/** A family's view of a purchase matches the services and the provider. For a settled system. */
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

/** A purchase made while signed in belongs to that account, whatever its addresses. */
export async function purchasesHaveOwners(walk: Walk): Promise<void> {
  const ids = walk.purchases.map(({ id }) => id)
  const [registrations, orders] = await Promise.all([
    walk.world.system.sql('enrollment')<{ id: string; owner: string | null }[]>`
      select id, owner_id as owner from registrations where id = any(${ids}::uuid[])`,
    walk.world.system.sql('billing')<{ id: string; owner: string | null }[]>`
      select id, owner_id as owner from orders where id = any(${ids}::uuid[])`,
  ])
  const owners = new Map([...registrations, ...orders].map(({ id, owner }) => [id, owner]))
  for (const { kind, id, owner } of [...walk.registrations, ...walk.orders])
    if (owner?.state === 'active' && owners.get(id) !== owner.userId)
      throw new Violation('a purchase is its owner’s', `${kind} ${id} of ${owner.userId} is ${owners.get(id)}’s`)
}

/** Operators and families see the same status. */
export async function listsAgree(walk: Walk): Promise<void> {
  const { registrations } = walk
  if (registrations.length === 0) return
  const browser = new Browser(walk.world.system.siteUrl)
  const headers = { 'x-admin-secret': localAdminSecret }
  for (const { id, family } of registrations) {
    const view = registrationViewSchema.parse((await browser.ask('GET', `/api/registrations/${id}`)).body)
    const query = new URLSearchParams({ email: view.email, limit: '500' })
    const path = `/api/getAllRegistrations?${query}`
    const { status, body } = await browser.ask('GET', path, undefined, headers)
    const listed = status === 200 ? adminRegistrationsSchema.parse(body).registrations : []
    const row = listed.find(({ registrationId }) => registrationId === id)
    if (row?.status !== view.status)
      throw new Violation(
        'what is shown is so',
        `${id} of ${family.name} is listed as ${row?.status}, seen as ${view.status}`,
      )
  }
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

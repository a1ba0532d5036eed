import type { AgreementTerms } from '@robokids/contracts/agreement'
import { formatClassDate } from '@robokids/contracts/class-date'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { openingProducts } from '@robokids/contracts/opening-prices'
import { formatMoney } from '@robokids/contracts/pricing'
import { periodOf } from '@robokids/contracts/renewal-terms'

const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })

const names: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.entries(openingLevels).map(([classType, { title }]) => [`class:${classType}`, title])),
  ...Object.fromEntries(Object.entries(openingProducts).map(([sku, { name }]) => [sku, name])),
  'membership:monthly': 'Membership, paid monthly',
  'membership:yearly': 'Membership, paid yearly',
}

function whatOf({ kind, lines }: AgreementTerms): string {
  return lines
    .map(({ sku, quantity, unitAmount }) => {
      const name = names[sku] ?? sku
      if (kind === 'membership' || kind === 'plan_change') return name
      const count = kind === 'registration' ? `${quantity} ${quantity === 1 ? 'seat' : 'seats'} at` : `${quantity} ×`
      return `${name}: ${count} ${usd(unitAmount)}`
    })
    .join('\n')
}

function thenOf({ renewal }: AgreementTerms): string {
  if (!renewal) return ''
  const price = `${usd(renewal.amount)} a ${periodOf(renewal.plan)}`
  return renewal.on ? `${price}, from ${formatClassDate(renewal.on)}` : `${price}, until you cancel`
}

export interface TermsRow {
  name: string
  /** Empty if there was none. */
  before: string
  now: string
}

/** The agreed terms beside those offered now, one row each, without rows that are empty on both sides. */
export function compareTerms(before: AgreementTerms | undefined, now: AgreementTerms): TermsRow[] {
  const lines: [name: string, of: (terms: AgreementTerms) => string][] = [
    ['What', whatOf],
    ['When', ({ date }) => (date === null ? '' : formatClassDate(date))],
    ['Credit for unused time', ({ credit }) => (credit > 0 ? usd(credit) : '')],
    ['Due now', ({ dueNow }) => (dueNow > 0 ? usd(dueNow) : 'Nothing')],
    ['Then', thenOf],
  ]
  return lines
    .map(([name, of]) => ({ name, before: before ? of(before) : '', now: of(now) }))
    .filter((row) => row.before !== '' || row.now !== '')
}

/** The changes in a few words, with amounts. */
export function changeOf(
  before: AgreementTerms | undefined,
  now: AgreementTerms,
): { title: string; amounts?: { before: string; now: string } } {
  const price = 'The price changed while you were here'
  if (!before) return { title: 'Please check the price again' }
  if (before.dueNow !== now.dueNow)
    return { title: price, amounts: { before: usd(before.dueNow), now: usd(now.dueNow) } }
  if (before.renewal?.amount !== now.renewal?.amount)
    return { title: price, amounts: { before: usd(before.renewal?.amount ?? 0), now: usd(now.renewal?.amount ?? 0) } }
  if (before.termsVersion !== now.termsVersion) return { title: 'The terms changed while you were here' }
  return { title: 'The offer changed while you were here' }
}

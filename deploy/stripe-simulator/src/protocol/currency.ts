import { invalidRequest } from './errors.ts'
import { money } from './money.ts'
import { string } from './params.ts'

/**
 * What is taken, with the least that can be charged of each, in its smallest unit: Stripe's minimums for an account that
 * is paid out in it. The yen has no smaller unit.
 */
const leastAmounts: Record<string, number> = {
  usd: 50,
  eur: 50,
  gbp: 30,
  cad: 50,
  aud: 50,
  nzd: 50,
  chf: 50,
  sek: 300,
  nok: 300,
  dkk: 250,
  mxn: 1000,
  jpy: 50,
}
const currencies = Object.keys(leastAmounts)

/** Eight digits, whatever the currency. */
export const mostAmount = 99_999_999

export function currency(value: unknown, param: string): string {
  const given = string(10)(value as string | undefined, param).toLowerCase()
  if (!currencies.includes(given)) {
    throw invalidRequest(
      `Invalid currency: ${given}. The payment simulator supports these currencies: ${currencies.join(', ')}`,
      { param },
    )
  }
  return given
}

/** Less than this cannot be charged. */
export function leastAmount(of: string): number {
  return leastAmounts[of] ?? 50
}

/**
 * Refuses what cannot be charged.
 * @param subject how the message begins: `Amount must`
 * @throws ApiError 400 `amount_too_small` or `amount_too_large`
 */
export function checkAmount(amount: number, of: string, subject: string, param?: string): void {
  const more = param === undefined ? {} : { param }
  const least = leastAmount(of)
  if (amount < least) {
    throw invalidRequest(`${subject} be at least ${money(least, of)} ${of}`, { code: 'amount_too_small', ...more })
  }
  if (amount > mostAmount) {
    throw invalidRequest(`${subject} be no more than ${money(mostAmount, of)} ${of}`, {
      code: 'amount_too_large',
      ...more,
    })
  }
}

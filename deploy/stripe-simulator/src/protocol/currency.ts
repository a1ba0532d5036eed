import { invalidRequest } from './errors.ts'
import { money } from './money.ts'
import { string } from './params.ts'

/**
 * The accepted currencies with Stripe's minimum charges, in the smallest unit, for an account that
 * is paid out in that currency. The yen has no smaller unit.
 */
const minAmounts: Record<string, number> = {
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
const currencies = Object.keys(minAmounts)

/** Eight digits in any currency. */
export const maxAmount = 99_999_999

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

/** The minimum charge. */
export function minAmount(of: string): number {
  return minAmounts[of] ?? 50
}

/**
 * Rejects amounts that cannot be charged.
 * @param subject start of the message: `Amount must`
 * @throws ApiError 400 `amount_too_small` or `amount_too_large`
 */
export function checkAmount(amount: number, of: string, subject: string, param?: string): void {
  const more = param === undefined ? {} : { param }
  const minimum = minAmount(of)
  if (amount < minimum) {
    throw invalidRequest(`${subject} be at least ${money(minimum, of)} ${of}`, { code: 'amount_too_small', ...more })
  }
  if (amount > maxAmount) {
    throw invalidRequest(`${subject} be no more than ${money(maxAmount, of)} ${of}`, {
      code: 'amount_too_large',
      ...more,
    })
  }
}

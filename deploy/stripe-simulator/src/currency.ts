import { invalidRequest } from './errors.ts'
import { string } from './params.ts'

/** What Stripe takes in the United States and Europe; the amounts here are all in the smallest unit of two decimals. */
const CURRENCIES = ['usd', 'eur', 'gbp', 'cad', 'aud', 'nzd', 'chf', 'sek', 'nok', 'dkk', 'mxn']

export function currency(value: unknown, param: string): string {
  const given = string(10)(value as string | undefined, param).toLowerCase()
  if (!CURRENCIES.includes(given)) {
    throw invalidRequest(
      `Invalid currency: ${given}. The payment simulator supports these currencies: ${CURRENCIES.join(', ')}`,
      { param },
    )
  }
  return given
}

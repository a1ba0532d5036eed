import { isUnknownRoute, type Call, type Upstream } from './upstream.ts'

/**
 * Has billing refresh what it knows of a checkout, and answers that: a payment may be under way of which it does not know yet. So the
 * `GET` of a page that waits may have the provider asked, and a payment applied. Billing limits how often (`attempts/refresh-attempts.ts`): an
 * attempt's row says when it was asked about last, and is due after 2, 4, 8 … 60 seconds, whichever process is asked; sixteen questions of a
 * process are under way at most; and nothing is asked about what is settled. Beyond that it reads only. A billing of the version before, which may still be running in a roll-out, cannot be asked in
 * this way; then what it knows is read as it is.
 * @param path of the checkout, order or membership checkout.
 * @param returned the buyer has just come back from the payment page, before its webhook perhaps.
 */
export async function refreshCheckout<Answer>(
  billing: Upstream,
  path: string,
  returned: boolean,
  call: Call<Answer>,
): Promise<Answer> {
  try {
    return await billing.call('POST', `${path}/refresh?returned=${returned}`, call)
  } catch (error) {
    if (isUnknownRoute(error)) return billing.call('GET', path, call)
    throw error
  }
}

import { isUnknownRoute, type Call, type Upstream } from './upstream.ts'

/**
 * Reads what billing knows of a checkout: a payment may be under way that it does not know of yet, so it asks the provider
 * as often as makes sense. A billing of the version before, which may still be running in a roll-out, cannot be asked in
 * this way; then what it knows is read as it is.
 * @param path of the checkout, order or membership checkout.
 * @param returned the buyer has just come back from the payment page, before its webhook perhaps.
 */
export async function readCheckout<Answer>(
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

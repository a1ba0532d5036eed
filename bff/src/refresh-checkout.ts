import { isUnknownRoute, type Call, type Upstream } from './upstream.ts'

/**
 * Has billing refresh a checkout, because a payment may exist that it does not know yet, and returns it. So the `GET` of a waiting
 * page may cause a request to the provider and apply a payment. Billing limits these requests (`attempts/refresh-attempts.ts`):
 * per attempt they are due after 2, 4, 8 … 60 seconds across all processes, at most sixteen per process are in flight, and settled
 * checkouts are only read. A billing of the previous version, during a roll-out, has no such route and is only read.
 * @param path the path of the checkout, order or membership checkout.
 * @param returned whether the buyer has just returned from the payment page, perhaps before its webhook.
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

/**
 * Snapshots for webhook endpoints of an older API version. It renames and removes what a receiver is likely to trip
 * over and is no full history of the API: enough to find out whether a receiver relies on a shape it was not promised.
 */
import type { SnapshotEvent } from './types.ts'

/** The version whose shapes these are: the one that the SDK pins. */
export const latestApiVersion = '2026-10-28.endive'

/** Keys that came after the dated versions before 2025. */
const newerKeys: Record<string, readonly string[]> = {
  'checkout.session': [
    'adaptive_pricing',
    'allowed_payment_method_types',
    'branding_settings',
    'collected_information',
    'customer_account',
    'discounts',
    'integration_identifier',
    'managed_payments',
    'origin_context',
    'permissions',
    'wallet_options',
  ],
  payment_intent: [
    'allowed_payment_method_types',
    'customer_account',
    'excluded_payment_method_types',
    'managed_payments',
    'payment_record',
  ],
  refund: ['customer', 'customer_account', 'payment_method'],
}

export function renderFor(version: string, event: SnapshotEvent): SnapshotEvent {
  if (version === latestApiVersion) return event
  const object: Record<string, unknown> & { id?: string; object: string } = {
    ...event.data.object,
  }
  if (version < '2025') {
    for (const key of newerKeys[object.object] ?? []) delete object[key]
    if (object.object === 'checkout.session') {
      object['shipping_details'] = null
      object['ui_mode'] = 'hosted'
    }
    if (object.object === 'charge') object['invoice'] = null
    if (object.object === 'payment_intent') object['invoice'] = null
  }
  return { ...event, api_version: version, data: { ...event.data, object } }
}

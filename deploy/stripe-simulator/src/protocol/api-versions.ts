/**
 * Snapshots for webhook endpoints with an older API version. Only the differences that are likely to break
 * a receiver are rendered, enough to find out whether it relies on a version it did not pin.
 */
import type { SnapshotEvent } from './types.ts'

/** The current version: the one that the SDK pins. */
export const latestApiVersion = '2026-10-28.endive'

/** Keys added after the dated versions before 2025. */
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

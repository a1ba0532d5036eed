import { invalidRequest } from '../protocol/errors.ts'
import { list, object, optional, string } from '../protocol/params.ts'
import type { Session } from '../protocol/types.ts'

/** Two-letter codes of countries to which Stripe does not ship. */
const unsupported = ['AS', 'CX', 'CC', 'CU', 'HM', 'IR', 'KP', 'MH', 'FM', 'NF', 'MP', 'PW', 'SY', 'UM', 'VI']

export const shippingAddressCollection = optional(
  object({
    allowed_countries: list((value, param) => {
      const code = string(2)(value, param)
      if (!/^[A-Z]{2}$/.test(code) || unsupported.includes(code)) {
        throw invalidRequest(`Invalid ${param}: must be a supported two-letter country code`, { param })
      }
      return code
    }, 300),
  }),
)

export interface ShippingEntry {
  shippingName: string
  line1: string
  line2: string
  city: string
  state: string
  postalCode: string
  country: string
}

export type ShippingField = Exclude<keyof ShippingEntry, 'line2' | 'country'>

/** The shipping address of tests that pay without the page. */
export const testAddress: ShippingEntry = {
  shippingName: 'Test Parent',
  line1: '14 Alder Way',
  line2: '',
  city: 'San Mateo',
  state: 'CA',
  postalCode: '94401',
  country: 'US',
}

const required: readonly { field: ShippingField; message: string }[] = [
  { field: 'shippingName', message: 'Enter the name of who receives it.' },
  { field: 'line1', message: 'Enter the street and number.' },
  { field: 'city', message: 'Enter the city.' },
  { field: 'state', message: 'Enter the state.' },
  { field: 'postalCode', message: 'Enter the ZIP code.' },
]

/** Reads the shipping address if the session collects one; returns the error, if any. */
export function collectShipping(
  session: Session,
  entry: ShippingEntry,
): { field: ShippingField; message: string } | null {
  const collection = session.shipping_address_collection
  if (!collection) return null
  const trimmed = (text: string) => text.trim().slice(0, 256)
  const wrong = required.find(({ field }) => trimmed(entry[field]) === '')
  if (wrong) return wrong
  if (entry.country === 'US' && !/^\d{5}(-\d{4})?$/.test(entry.postalCode.trim())) {
    return { field: 'postalCode', message: 'A ZIP code has five digits.' }
  }
  const country =
    collection.allowed_countries.find((code) => code === entry.country) ?? collection.allowed_countries[0] ?? null
  session.collected_information = {
    business_name: null,
    individual_name: null,
    shipping_details: {
      name: trimmed(entry.shippingName),
      address: {
        line1: trimmed(entry.line1),
        line2: trimmed(entry.line2) === '' ? null : trimmed(entry.line2),
        city: trimmed(entry.city),
        state: trimmed(entry.state),
        postal_code: trimmed(entry.postalCode),
        country,
      },
    },
  }
  return null
}

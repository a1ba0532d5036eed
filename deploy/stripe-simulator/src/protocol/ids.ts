import { randomBytes } from 'node:crypto'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random letters and digits, as Stripe's object ids use them. */
export function randomToken(length: number): string {
  let token = ''
  while (token.length < length) {
    for (const byte of randomBytes(length)) {
      // 248 is the largest multiple of 62 in a byte: values above it would bias towards the first letters.
      if (byte < 248 && token.length < length) token += alphabet[byte % 62]
    }
  }
  return token
}

/** Length of the random part by prefix, as in Stripe's ids. */
const lengths = {
  cs_test_a1: 56,
  pi_3: 23,
  ch_3: 23,
  py_3: 23,
  re_3: 23,
  txn_3: 23,
  pm_1: 23,
  evt_1: 23,
  evt_test_65: 40,
  we_1: 23,
  ed_test_61: 40,
  li_1: 23,
  price_1: 23,
  prod_: 14,
  cus_: 14,
  sub_1: 23,
  sub_sched_1: 18,
  si_: 14,
  in_1: 23,
  il_1: 23,
  inpay_1: 23,
  upcoming_in_1: 23,
  du_1: 23,
  cbtxn_1: 23,
  bps_1: 23,
  bpc_1: 23,
  clock_1: 23,
  req_: 14,
  whsec_: 32,
} as const

export type IdPrefix = keyof typeof lengths

/** Creates an id such as `pi_3…`, unique even across restarts. */
export function newId(prefix: IdPrefix): string {
  return prefix + randomToken(lengths[prefix])
}

/** The id in a field with an id, an expanded object, or null. */
export function idOf(reference: string | { id: string } | null | undefined): string {
  if (reference === null || reference === undefined) return ''
  return typeof reference === 'string' ? reference : reference.id
}

/** Returns the key for looking up an address, which ignores case. In a file without zod, because forms use it to compare. */
export function emailKey(address: string): string {
  return address.trim().toLowerCase()
}

/**
 * Returns the key for rate limits per mailbox, which ignores the part after a plus: most mail providers deliver it to the same
 * mailbox. Never use it to look up a person: with some providers these are two people.
 */
export function mailboxKey(address: string): string {
  return emailKey(address).replace(/\+[^@]*@/, '@')
}

/** The address is the same mailbox whatever its case, for us: the key to find it by. In a file without schemas: forms compare. */
export function emailKey(address: string): string {
  return address.trim().toLowerCase()
}

/**
 * By what limits count an address: with most providers, whatever follows a plus comes to the same mailbox. Never to find
 * somebody by: with some, they are two people.
 */
export function mailboxKey(address: string): string {
  return emailKey(address).replace(/\+[^@]*@/, '@')
}

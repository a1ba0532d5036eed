/** The address is the same mailbox whatever its case, for us: the key to find it by. In a file without schemas: forms compare. */
export function emailKey(address: string): string {
  return address.trim().toLowerCase()
}

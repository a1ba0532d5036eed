/** Returns the Message-ID (RFC 5322) of one sending of a mail. It is derived from the row, so all attempts have the same. */
export function messageIdOf(mailId: string, sending: number, from: string): string {
  return `<${mailId}.${sending}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

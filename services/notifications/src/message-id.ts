/** RFC 5322's Message-ID of one sending of a mail: from nothing but its row, so that each attempt has the same. */
export function messageIdOf(mailId: string, sending: number, from: string): string {
  return `<${mailId}.${sending}@${from.slice(from.lastIndexOf('@') + 1)}>`
}

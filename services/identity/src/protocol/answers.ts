import { invalid } from './errors.ts'

/** A moment as the protocol writes it. */
export function epochSeconds(instant: Temporal.Instant): number {
  return instant.epochMilliseconds / 1000
}

/** Lists are read page by page: the token says after which key the next one begins. */
function pageToken(key: string): string {
  return Buffer.from(key).toString('base64url')
}

/** @throws IdentityError InvalidParameterException for a token that no page gave. */
export function afterToken(token: string | undefined): string {
  if (token === undefined) return ''
  const key = Buffer.from(token, 'base64url').toString()
  if (pageToken(key) !== token || key.includes('\u0000')) throw invalid('Invalid pagination token.')
  return key
}

/** Cuts a page of at most `size` off rows of which one more was read. */
export function pageOf<Row>(rows: Row[], size: number, key: (row: Row) => string): { page: Row[]; next?: string } {
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return rows.length > size && last !== undefined ? { page, next: pageToken(key(last)) } : { page }
}

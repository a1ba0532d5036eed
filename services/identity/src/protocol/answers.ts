import { invalid } from './errors.ts'

/** Returns an instant in the protocol's format. */
export function epochSeconds(instant: Temporal.Instant): number {
  return instant.epochMilliseconds / 1000
}

/** Encodes the last key of a page as the token of the next one. */
function pageToken(key: string): string {
  return Buffer.from(key).toString('base64url')
}

/** @throws IdentityError InvalidParameterException for a malformed token */
export function afterToken(token: string | undefined): string {
  if (token === undefined) return ''
  const key = Buffer.from(token, 'base64url').toString()
  if (pageToken(key) !== token || key.includes('\u0000')) throw invalid('Invalid pagination token.')
  return key
}

/** Returns a page of at most `size` rows, given one row more than that if there is a next page. */
export function pageOf<Row>(rows: Row[], size: number, key: (row: Row) => string): { page: Row[]; next?: string } {
  const page = rows.slice(0, size)
  const last = page.at(-1)
  return rows.length > size && last !== undefined ? { page, next: pageToken(key(last)) } : { page }
}

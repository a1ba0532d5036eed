import { invalidRequest } from '../protocol/errors.ts'
import { expandParam, integer, optional, string } from '../protocol/params.ts'
/**
 * The search query language: `email:"ada@example.com" AND -metadata["plan"]:null`. A clause is a field, an operator and a
 * value; clauses are joined by AND (or a space) or by OR, not by both.
 */
import type { Context } from './context.ts'
import { get, type Endpoint } from './routes.ts'

/** Strings also match partially (`~`), tokens only exactly, numbers by comparison. */
type Kind = 'string' | 'token' | 'number'

export type SearchFields<T> = Record<string, { kind: Kind; of: (one: T) => string | number | boolean | null }>

type Test<T> = (one: T) => boolean

const maxClauses = 10
const minPartLength = 3

const clause =
  /^(?<negated>-)?(?<field>[a-z0-9_.]+)(?:\[(?<quote>["'])(?<key>(?:\\.|(?!\k<quote>).)*)\k<quote>\])?\s*(?<operator>:|~|>=|<=|>|<|=)\s*(?:(?<mark>["'])(?<text>(?:\\.|(?!\k<mark>).)*)\k<mark>|(?<bare>[^\s"']+))/i

function invalidQuery(why: string) {
  return invalidRequest(
    `We were unable to parse your search query. ${why} For more information, see https://stripe.com/docs/search#search-query-language.`,
    { param: 'query' },
  )
}

/** @throws ApiError 400 describing the error in the query */
function testOf<T extends { metadata: Record<string, string> }>(query: string, fields: SearchFields<T>): Test<T> {
  const tests: Test<T>[] = []
  const joins = new Set<string>()
  let rest = query.trim()
  while (rest !== '') {
    const found = clause.exec(rest)
    if (found?.groups === undefined) throw invalidQuery(`Near \`${rest.slice(0, 40)}\` there is no clause.`)
    tests.push(clauseOf(found.groups, fields))
    const after = rest.slice(found[0].length)
    rest = after.trim()
    if (rest === '') break
    const join = /^\s+(AND|OR)\s+/i.exec(after)
    if (join === null && !/^\s/.test(after)) throw invalidQuery(`Near \`${rest.slice(0, 40)}\` there is no clause.`)
    joins.add((join?.[1] ?? 'and').toLowerCase())
    if (join !== null) rest = after.slice(join[0].length).trim()
    if (rest === '') throw invalidQuery('There is no clause at its end.')
  }
  if (tests.length === 0) throw invalidQuery('It is empty.')
  if (tests.length > maxClauses) throw invalidQuery(`It has more than ${maxClauses} clauses.`)
  if (joins.size > 1) throw invalidQuery('AND and OR cannot be used in one query.')
  return joins.has('or') ? (one) => tests.some((test) => test(one)) : (one) => tests.every((test) => test(one))
}

function clauseOf<T extends { metadata: Record<string, string> }>(
  { negated, field = '', key, operator = '', text, bare }: Record<string, string | undefined>,
  fields: SearchFields<T>,
): Test<T> {
  const named =
    field === 'metadata' && key !== undefined
      ? { kind: 'token' as const, of: (one: T) => one.metadata[unescaped(key)] ?? null }
      : key === undefined && Object.hasOwn(fields, field)
        ? fields[field]
        : undefined
  if (named === undefined) throw invalidQuery(`Field \`${field}\` is an unsupported search field.`)
  const test = comparison(named.kind, field, operator, text === undefined ? undefined : unescaped(text), bare)
  return (one) => test(named.of(one)) !== (negated !== undefined)
}

function comparison(
  kind: Kind,
  field: string,
  operator: string,
  quoted: string | undefined,
  bare: string | undefined,
): (value: string | number | boolean | null) => boolean {
  if (quoted === undefined && bare?.toLowerCase() === 'null' && operator === ':') return (value) => value === null
  if (kind === 'number') {
    const number = Number(quoted ?? bare)
    if (operator === '~' || !Number.isFinite(number)) throw invalidQuery(`Field \`${field}\` is a number.`)
    return (value) => {
      if (typeof value !== 'number') return false
      if (operator === '>') return value > number
      if (operator === '>=') return value >= number
      if (operator === '<') return value < number
      return operator === '<=' ? value <= number : value === number
    }
  }
  const wanted = (quoted ?? bare ?? '').toLowerCase()
  if (quoted === undefined && wanted !== 'true' && wanted !== 'false') {
    throw invalidQuery(`The value of \`${field}\` must be in quotation marks.`)
  }
  if (operator === ':') return (value) => String(value ?? '').toLowerCase() === wanted
  if (operator !== '~' || kind === 'token') {
    throw invalidQuery(`The operator \`${operator}\` cannot be used with the field \`${field}\`.`)
  }
  if (wanted.length < minPartLength) throw invalidQuery(`\`~\` needs at least ${minPartLength} characters.`)
  return (value) =>
    String(value ?? '')
      .toLowerCase()
      .includes(wanted)
}

function unescaped(text: string): string {
  return text.replaceAll(/\\(.)/g, '$1')
}

/** Serves `path` with the matches of the query, newest first. Unlike Stripe, without a delay after writes. */
export function searchRoute<T extends { id: string; metadata: Record<string, string> }>(
  path: string,
  fields: SearchFields<T>,
  all: (ctx: Context) => T[],
): Endpoint {
  return get(
    path,
    { ...expandParam, limit: optional(integer(1, 100)), page: optional(string()), query: string() },
    (ctx, { query, limit = 10, page }) => {
      const found = all(ctx).filter(testOf(query, fields))
      const start = page === undefined ? 0 : found.findIndex((one) => one.id === page) + 1
      if (page !== undefined && start === 0) throw invalidRequest('Invalid page', { param: 'page' })
      const data = found.slice(start, start + limit)
      const hasMore = start + limit < found.length
      return {
        object: 'search_result',
        data,
        has_more: hasMore,
        next_page: hasMore ? (data.at(-1)?.id ?? null) : null,
        url: path,
      }
    },
  )
}

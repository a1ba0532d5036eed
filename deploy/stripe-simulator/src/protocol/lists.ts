import { invalidRequest } from './errors.ts'

export interface ListPage<T> {
  object: 'list'
  data: T[]
  has_more: boolean
  url: string
}

export interface Paging {
  limit?: number | undefined
  starting_after?: string | undefined
  ending_before?: string | undefined
}

/**
 * Returns one page of a list that is already in display order (newest first for most resources).
 * An unknown cursor is an error, as in the API, so that a paging bug does not look like an empty list.
 */
export function page<T extends { id: string }>(
  all: readonly T[],
  paging: Paging,
  url: string,
  noun: string,
): ListPage<T> {
  const limit = paging.limit ?? 10
  if (paging.starting_after !== undefined && paging.ending_before !== undefined) {
    throw invalidRequest('You may only specify one of these parameters: starting_after, ending_before.', {
      param: 'ending_before',
    })
  }
  if (paging.ending_before !== undefined) {
    const end = cursor(all, paging.ending_before, noun, 'ending_before')
    const start = Math.max(0, end - limit)
    return { object: 'list', data: all.slice(start, end), has_more: start > 0, url }
  }
  const start = paging.starting_after === undefined ? 0 : cursor(all, paging.starting_after, noun, 'starting_after') + 1
  return { object: 'list', data: all.slice(start, start + limit), has_more: start + limit < all.length, url }
}

function cursor(all: readonly { id: string }[], id: string, noun: string, param: string): number {
  const index = all.findIndex((one) => one.id === id)
  if (index === -1) {
    throw invalidRequest(`No such ${noun}: '${id.slice(0, 200)}'`, { code: 'resource_missing', param })
  }
  return index
}

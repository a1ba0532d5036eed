import { invalidRequest } from '../protocol/errors.ts'
/** `expand[]=payment_intent.latest_charge`: replaces ids in a response by their objects, up to four levels. */
import type { Context } from '../resources/context.ts'
import { includable } from './includable.ts'
import { lookUp } from './look-up.ts'

type Json = Record<string, unknown>
const maxDepth = 4

/** Works on a copy: the stored object keeps its ids. */
export function expand(ctx: Context, response: unknown, paths: readonly string[]): unknown {
  const copy = structuredClone(response)
  for (const path of paths) {
    const parts = path.split('.')
    if (parts.length > maxDepth) {
      throw invalidRequest(
        `You cannot expand more than ${maxDepth} levels of a property. Property: ${path.slice(0, 200)}`,
        {
          param: 'expand',
        },
      )
    }
    expandPath(ctx, copy as Json, parts, path)
  }
  return copy
}

function expandPath(ctx: Context, target: Json, parts: readonly string[], path: string): void {
  const [part, ...rest] = parts
  if (part === undefined) return
  if (Array.isArray(target['data']) && ['list', 'search_result'].includes(String(target['object']))) {
    if (part !== 'data') throw notExpandable(path)
    for (const one of target['data'] as Json[]) expandPath(ctx, one, rest, path)
    return
  }
  const included = target[part] === undefined ? includable(ctx, target, part) : undefined
  if (included !== undefined) target[part] = structuredClone(included)
  const value = target[part]
  if (value === null) return
  if (typeof value === 'string') {
    const found = part === 'id' ? undefined : lookUp(ctx.store, value)
    if (found === undefined) throw notExpandable(path)
    target[part] = structuredClone(found)
  } else if (typeof value !== 'object') {
    throw notExpandable(path)
  } else if (rest.length === 0 && !('object' in value)) {
    throw notExpandable(path)
  }
  expandPath(ctx, target[part] as Json, rest, path)
}

function notExpandable(path: string) {
  return invalidRequest(
    `This property cannot be expanded (${path.slice(0, 200)}). You may want to try expanding a parent property, or check the spelling.`,
    { param: 'expand' },
  )
}

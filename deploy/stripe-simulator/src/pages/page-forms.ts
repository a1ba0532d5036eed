/** Bodies of the pages' forms. */
import type { FastifyRequest } from 'fastify'
import type { CardEntry } from '../payments/cards.ts'
import { parseForm } from '../protocol/form-body.ts'

/** With script, a form requests its outcome as JSON. */
export function wantsJson(request: FastifyRequest): boolean {
  return request.headers.accept?.startsWith('application/json') === true
}

export function bodyOf(request: FastifyRequest): Record<string, string> {
  const form = typeof request.body === 'string' ? parseForm(request.body) : {}
  const fields: Record<string, string> = {}
  for (const [name, value] of Object.entries(form)) {
    if (typeof value === 'string') fields[name] = value
  }
  return fields
}

export function cardEntryOf(fields: Record<string, string>): CardEntry {
  const [month, year] = /^\s*(\d{1,2})\s*\/?\s*(\d{2}|\d{4})\s*$/.exec(fields['expiry'] ?? '')?.slice(1) ?? []
  return {
    number: fields['number'] ?? '',
    expMonth: month === undefined ? null : Number(month),
    expYear: year === undefined ? null : Number(year),
    cvc: (fields['cvc'] ?? '').trim(),
  }
}

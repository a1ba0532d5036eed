import type { FastifyRequest } from 'fastify'
import ipaddr from 'ipaddr.js'

const internalRanges: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'linkLocal',
  'carrierGradeNat',
  'uniqueLocal',
])

/**
 * Whether a request comes from this machine or its private network, and through no proxy: from a scraper or a probe. Goes
 * by the connection itself, so that no header makes a visitor one.
 */
export function isInternalRequest({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined) return false
  const address = socket.remoteAddress ?? ''
  return ipaddr.isValid(address) && internalRanges.has(ipaddr.process(address).range())
}

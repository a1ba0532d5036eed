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
 * Returns whether a request comes directly from this machine or its private network, such as that of a scraper or a probe.
 * Decides by the connection, so that no header can forge it.
 */
export function isInternalRequest({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined) return false
  const address = socket.remoteAddress ?? ''
  return ipaddr.isValid(address) && internalRanges.has(ipaddr.process(address).range())
}

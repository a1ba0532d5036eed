import { BlockList, isIP } from 'node:net'
import type { FastifyRequest } from 'fastify'

const privateAddresses = new BlockList()
for (const [network, prefix] of [
  ['127.0.0.0', 8],
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['169.254.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  privateAddresses.addSubnet(network, prefix, 'ipv4')
privateAddresses.addAddress('::1', 'ipv6')
privateAddresses.addSubnet('fc00::', 7, 'ipv6')
privateAddresses.addSubnet('fe80::', 10, 'ipv6')

/**
 * Returns whether a request comes directly from this machine or its private network, such as that of a scraper or a probe.
 * Decides by the connection, so that no header can forge it.
 */
export function isInternalRequest({ socket, headers }: Pick<FastifyRequest, 'socket' | 'headers'>): boolean {
  if (headers['x-forwarded-for'] !== undefined || headers['forwarded'] !== undefined) return false
  const address = (socket.remoteAddress ?? '').replace(/^::ffff:(?=[\d.]+$)/, '')
  return isIP(address) !== 0 && privateAddresses.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
}

import ipaddr from 'ipaddr.js'

/**
 * What limits count as one address: an IPv4 address, also one that is written as IPv6, or the /64 network of an IPv6
 * address, since whoever has one of its addresses has them all. What is no address stays as it is.
 */
export function networkOf(address: string): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  if (parsed.kind() === 'ipv4') return parsed.toString()
  return `${ipaddr.fromByteArray([...parsed.toByteArray().slice(0, 8), ...Array<number>(8).fill(0)]).toString()}/64`
}

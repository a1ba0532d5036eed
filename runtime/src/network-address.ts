import ipaddr from 'ipaddr.js'

/**
 * What limits count as one address: an IPv4 address, also one that is written as IPv6, or the /64 network of an IPv6
 * address, since whoever has one of its addresses has them all. What is no address stays as it is.
 */
export function networkOf(address: string): string {
  return within(address, { ipv4: 32, ipv6: 64 })
}

/**
 * The block that an address is of: 256 addresses of IPv4 (/24), or a /48 of IPv6. No smaller one is routed on its own, so
 * whoever rents some addresses has them of few blocks. Families share one too, behind a school's or a carrier's network. What is no
 * address stays as it is.
 */
export function blockOf(address: string): string {
  return within(address, { ipv4: 24, ipv6: 48 })
}

/** A part of the network that a limit counts by. */
export interface CountedNetwork {
  name: string
  /** How many times the limit it may have. */
  times: number
}

/**
 * What a limit to what one network does is counted by: the network (`networkOf`), and, of IPv6, the /48 that it is one of 65,536
 * of. Somebody may have that wholly, with a server or a line at home, and a carrier may have many customers in one, so it may
 * have more. IPv4 is counted by its address alone: there, those around it are somebody else's.
 */
export function countedNetworks(address: string): [own: CountedNetwork, ...around: CountedNetwork[]] {
  const own = { name: networkOf(address), times: 1 }
  return own.name.endsWith('/64') ? [own, { name: blockOf(address), times: 8 }] : [own]
}

/** Some proxies tell the port as well, which is another one for each connection: `198.51.100.7:51234`, `[2001:db8::1]:51234`. */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? []
  return ipv6 ?? ipv4 ?? address
}

function within(told: string, bits: { ipv4: number; ipv6: number }): string {
  const address = withoutPort(told)
  if (!ipaddr.isValid(address)) return told
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  const length = bits[parsed.kind()]
  if (length === bytes.length * 8) return parsed.toString()
  const first = ipaddr.fromByteArray(bytes.map((byte, index) => (index < length / 8 ? byte : 0)))
  return `${first.toString()}/${length}`
}

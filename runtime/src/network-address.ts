import ipaddr from 'ipaddr.js'

/**
 * Returns the network that limits count as one client: an IPv4 address (also if written as IPv6), or the /64 of an IPv6
 * address, because one customer has all of its addresses. Any other text is returned unchanged.
 */
export function networkOf(address: string): string {
  return maskAddress(address, { ipv4: 32, ipv6: 64 })
}

/**
 * Returns the block of an address: its /24 (IPv4, 256 addresses) or /48 (IPv6). Smaller blocks are not routed separately, so
 * rented addresses come from few blocks. Families can share one too, behind a school's or carrier's network. Any other text is
 * returned unchanged.
 */
export function blockOf(address: string): string {
  return maskAddress(address, { ipv4: 24, ipv6: 48 })
}

/** A network that limits count separately. */
export interface CountedNetwork {
  name: string
  /** The multiple of the limit that applies to it. */
  limitFactor: number
}

/**
 * Returns the networks that a limit per client counts: that of the address (`networkOf`) and, for IPv6, also its /48, which has
 * 65,536 such networks. One person can have a whole /48, with a server or at home, but a carrier can also have many customers
 * in one, so it has a higher limit. IPv4 is counted by address only, because nearby addresses belong to others.
 */
export function countedNetworks(address: string): [own: CountedNetwork, ...around: CountedNetwork[]] {
  const own = { name: networkOf(address), limitFactor: 1 }
  return own.name.endsWith('/64') ? [own, { name: blockOf(address), limitFactor: 8 }] : [own]
}

/** Removes the port, which some proxies send and which differs per connection: `198.51.100.7:51234`, `[2001:db8::1]:51234`. */
function withoutPort(address: string): string {
  const [, ipv6, ipv4] = /^(?:\[(.+)\](?::\d+)?|([\d.]+):\d+)$/.exec(address) ?? []
  return ipv6 ?? ipv4 ?? address
}

function maskAddress(text: string, bits: { ipv4: number; ipv6: number }): string {
  const address = withoutPort(text)
  if (!ipaddr.isValid(address)) return text
  const parsed = ipaddr.process(address)
  const bytes = parsed.toByteArray()
  const length = bits[parsed.kind()]
  if (length === bytes.length * 8) return parsed.toString()
  const first = ipaddr.fromByteArray(bytes.map((byte, index) => (index < length / 8 ? byte : 0)))
  return `${first.toString()}/${length}`
}

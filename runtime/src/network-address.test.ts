import { describe, expect, it } from 'vitest'
import { blockOf, networkOf } from './network-address.ts'

describe('networkOf', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
    ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
    ['fe80::1%eth0', 'fe80::/64'],
    // Some proxies send the port as well.
    ['203.0.113.7:51234', '203.0.113.7'],
    ['[2001:db8:1:2::1]:51234', '2001:db8:1:2::/64'],
    ['[2001:db8:1:2::1]', '2001:db8:1:2::/64'],
    ['unknown:51234', 'unknown:51234'],
    ['::1', '::/64'],
    ['unknown', 'unknown'],
    ['', ''],
  ])('returns the network of %s: %s', (address, network) => {
    expect(networkOf(address)).toBe(network)
  })
})

describe('blockOf', () => {
  it.each([
    ['203.0.113.7', '203.0.113.0/24'],
    ['::ffff:203.0.113.255', '203.0.113.0/24'],
    ['2001:db8:1:2::1', '2001:db8:1::/48'],
    ['2001:0DB8:1:ffff:ffff:ffff:ffff:ffff', '2001:db8:1::/48'],
    ['::1', '::/48'],
    ['203.0.113.7:51234', '203.0.113.0/24'],
    ['unknown', 'unknown'],
  ])('returns the block of %s: %s', (address, block) => {
    expect(blockOf(address)).toBe(block)
  })
})

import type { FastifyRequest } from 'fastify'
import { describe, expect, it } from 'vitest'
import { isInternalRequest } from './internal-requests.ts'

const from = (remoteAddress: string | undefined, headers: FastifyRequest['headers'] = {}) =>
  isInternalRequest({ socket: { remoteAddress } as FastifyRequest['socket'], headers })

describe('an internal request', () => {
  it.each([
    '127.0.0.1',
    '::1',
    '::ffff:127.0.0.1',
    '10.1.2.3',
    '::ffff:10.1.2.3',
    '172.16.0.1',
    '172.31.255.255',
    '192.168.1.1',
    '169.254.1.1',
    '100.64.0.1',
    'fd00::1',
    'fe80::1%eth0',
  ])('comes from %s', (address) => {
    expect(from(address)).toBe(true)
  })

  it.each(['8.8.8.8', '::ffff:8.8.8.8', '172.32.0.1', '100.128.0.1', '2001:db8::1', '0.0.0.0', '', undefined])(
    'does not come from %s',
    (address) => {
      expect(from(address)).toBe(false)
    },
  )

  it.each(['x-forwarded-for', 'forwarded'])('does not come through a proxy that sets %s', (header) => {
    expect(from('127.0.0.1', { [header]: '127.0.0.1' })).toBe(false)
  })
})

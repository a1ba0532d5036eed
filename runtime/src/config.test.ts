import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { ConfigError, readConfig, readDatabaseConfig, type Environment } from './config.ts'

const read = (env: Environment) => readConfig(z.object({}), { APP_ENV: 'local', ...env })

describe('readConfig', () => {
  it.each([
    ['PORT', '0x10'],
    ['PORT', '1e3'],
    ['PORT', '80.5'],
    ['PORT', '65536'],
    ['NATS_REPLICAS', '0'],
    ['CONSUMER_ACK_WAIT_MS', 'Infinity'],
    ['CONSUMER_RETRY_DELAYS', '200,'],
    ['CONSUMER_RETRY_DELAYS', '200,-1'],
    ['CONSUMER_RETRY_DELAYS', '200,86400001'],
    ['CONSUMER_ACK_WAIT_MS', '9007199254740991'],
    ['CLOCK_OFFSET', 'P1D'],
    ['CLOCK_OFFSET', 'P60D'],
    ['CLOCK_OFFSET', 'PT87661H'],
    ['CLOCK_OFFSET', '-PT87661H'],
    ['CLOCK_OFFSET', 'P1M'],
    ['CLOCK_OFFSET', 'an hour'],
    ['CLOCK_OFFSET', 'PT9999999999999H'],
    ['NATS_URL', 'nats://one:4222,,nats://two:4222'],
    ['NATS_URL', '127.0.0.1'],
    ['TRUST_PROXY', '1'],
    ['TRUST_PROXY', '2'],
    ['TRUST_PROXY', 'yes'],
    ['TRUST_PROXY', '10.0.0.0/33'],
    ['TRUST_PROXY', '10.0.0.0/8/8'],
    ['TRUST_PROXY', 'loopback,'],
    ['APP_ENV', 'test'],
  ])('rejects %s=%j', (name, value) => {
    expect(() => read({ [name]: value })).toThrow(ConfigError)
    expect(() => read({ [name]: value })).toThrow(new RegExp(`^These settings .*:\\n  ${name}[.:]`))
  })

  it('parses base settings', () => {
    const config = read({
      PORT: '8080',
      CONSUMER_RETRY_DELAYS: '20, 400',
      CLOCK_OFFSET: '-PT36H',
      TRUST_PROXY: 'loopback, 10.1.0.0/16, 2001:db8::/32',
    })
    expect(config).toMatchObject({
      PORT: 8080,
      CONSUMER_RETRY_DELAYS: [20, 400],
      TRUST_PROXY: ['loopback', '10.1.0.0/16', '2001:db8::/32'],
    })
    expect(config.CLOCK_OFFSET.total('hours')).toBe(-36)
  })

  it('explains what to write instead of a number of proxies', () => {
    expect(() => read({ TRUST_PROXY: '1' })).toThrow(
      'TRUST_PROXY: is a number: name the proxies by address, network (10.0.0.0/8) or name (loopback, linklocal, uniquelocal)',
    )
  })
})

describe('a setting that is given as a file', () => {
  async function fileWith(content: string): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'robokids-settings-'))
    onTestFinished(() => rm(folder, { recursive: true, force: true }))
    const path = join(folder, 'value')
    await writeFile(path, content)
    return path
  }

  it.each([
    ['correct horse ', 'a space at its end, which the setting’s own schema removes'],
    ['correct horse\n', 'a line break at its end'],
    ['correct horse\r\n', 'a line break of Windows'],
  ])('has the content of the file: %j', async (content) => {
    expect(read({ ADMIN_SECRET_FILE: await fileWith(content) }).ADMIN_SECRET).toBe('correct horse')
  })

  it('is checked like any other, and never repeated', async () => {
    const path = await fileWith('mysql://me:Ohquai2e@host/name')
    expect(() => readDatabaseConfig({ DATABASE_URL_FILE: path })).toThrow(/\n  DATABASE_URL: is not a URL like/)
    expect(() => readDatabaseConfig({ DATABASE_URL_FILE: path })).not.toThrow(/Ohquai2e/)
    const others = { SYSTEM_NAME: 'a', PORT: '1', NATS_URL: 'nats://n:1', NATS_USER: 'billing' }
    expect(() =>
      readConfig(z.object({}), { ...others, NATS_PASSWORD_FILE: path, ADMIN_SECRET_FILE: path }),
    ).not.toThrow()
  })

  it('is an error if it is set directly as well, or if the file cannot be read, and only that', () => {
    expect(() => read({ PORT: '0x10', PORT_FILE: '/dev/null', LOG_LEVEL_FILE: '/nowhere' })).toThrow(
      /^These settings .*:\n  PORT: is set by PORT_FILE as well\n  LOG_LEVEL_FILE: cannot be read \(ENOENT\)$/,
    )
    expect(() => readDatabaseConfig({ DATABASE_URL_FILE: '' })).toThrow(
      /:\n  DATABASE_URL_FILE: cannot be read \(ENOENT\)$/,
    )
  })
})

describe('readDatabaseConfig', () => {
  it('names each wrong setting but never its value', () => {
    const env = { DATABASE_URL: 'mysql://me:Ohquai2e@host/name', DATABASE_POOL: '' }
    expect(() => readDatabaseConfig(env)).toThrow(
      /DATABASE_URL: is not a URL like.*\n  DATABASE_POOL: is not a number$/,
    )
    expect(() => readDatabaseConfig(env)).not.toThrow(/Ohquai2e/)
  })
})

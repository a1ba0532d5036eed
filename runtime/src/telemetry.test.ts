import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createLogger, createMetrics, errorForLog } from './telemetry.ts'
import { beginTrace } from './trace.ts'

describe('errorForLog', () => {
  it('keeps the failed statement and the reason but none of its values', () => {
    const refused = Object.assign(new Error('duplicate key value violates unique constraint "users_username"'), {
      code: '23505',
      detail: 'Key (username)=(maren@example.com) already exists.',
    })
    const sent = ['maren@example.com', "$argon2id$v=19$m=19456\n    at $& $' $1"]
    const failed = new DrizzleQueryError('insert into "users" values ($1, $2)', sent, refused)
    for (const error of [failed, new Error('The account was not written.', { cause: failed }), refused]) {
      const logged = JSON.stringify(errorForLog(error))
      expect(logged).toContain('users_username')
      expect(logged).not.toMatch(/maren|argon2id/)
      expect(logged).toContain('telemetry.test.ts')
    }
    expect(errorForLog(failed)).toMatchObject({
      message: expect.stringContaining('Failed query: insert into "users" values ($1, $2)'),
    })
    expect(errorForLog(refused)).toMatchObject({ code: '23505' })
  })

  it('keeps neither personal data nor bodies of a failed call', () => {
    const reference = '01a22818-d188-757c-b15e-ce9e86dc61d5'
    const failed = Object.assign(new Error(`GET /registrations/${reference} of maren.holt@example.com failed`), {
      data: 'Maren Holt',
      body: { guardianName: 'Maren Holt' },
      details: { reference },
      hint: `see ${reference.toUpperCase()}`,
      cause: new Error(`"Maren" <maren.holt+robots@example.com> is unknown at ${reference}`),
    })
    const logged = JSON.stringify(errorForLog(failed))
    expect(logged).not.toMatch(/holt|ce9e86dc61d5/i)
    // A truncated id is enough to find the record but gives no access.
    expect(logged).toContain('GET /registrations/01a22818-d188… of [address] failed')
  })

  it('leaves other errors unchanged', () => {
    const error = Object.assign(new TypeError('No number.'), { at: 5 })
    expect(errorForLog(error)).toMatchObject({ type: 'TypeError', message: 'No number.', at: 5 })
  })
})

describe('a log line', () => {
  it('has truncated ids and no mail address', () => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger('test', 'info', {
      write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
    })
    const id = '01a22818-d188-757c-b15e-ce9e86dc61d5'
    log.warn({ attemptId: id, eventId: id, to: 'maren@example.com', count: 3 }, 'once')
    beginTrace({ name: 'test', requestId: id }).run(() => log.info('again'))
    expect(lines[0]).toMatchObject({ attemptId: '01a22818-d188…', eventId: id, to: '[address]', count: 3 })
    expect(lines[1]).toMatchObject({ requestId: id })
  })

  it('has the ids of its own trace and no fields of earlier lines', () => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger('test', 'info', {
      write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
    })
    beginTrace({ name: 'test', requestId: 'request-1' }).run(() => {
      log.warn({ err: new Error('once'), eventId: 'e1', requestId: 'another' }, 'first')
      log.info('second')
    })
    log.info('third')
    expect(lines.map(({ msg }) => msg)).toEqual(['first', 'second', 'third'])
    expect(lines[1]).toMatchObject({ service: 'test', requestId: 'request-1', traceId: lines[0]?.['traceId'] })
    expect(lines[1]).not.toHaveProperty('err')
    expect(lines[1]).not.toHaveProperty('eventId')
    expect(lines[2]).not.toHaveProperty('traceId')
  })

  it('has neither personal data nor secrets, whatever the names and the depth of its fields', () => {
    let line = ''
    const log = createLogger('test', 'info', { write: (text) => (line = text) })
    const secrets = {
      guardianName: 'Quillon Vantreeck',
      address: { line1: '77 Whortleberry Court', city: 'Ypsilantium' },
      headers: { authorization: 'Bearer abc.def', cookie: 'session=xyz' },
      attempts: [{ phone: '+1 734 555 0100', code: '493817', note: 'call +17345550100' }],
      session: 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJtYXJlbiJ9.c2lnbmF0dXJl',
      page: '/reset?code=493817&email=maren%40example.com',
    }
    log.info({ ...secrets, code: 'ECONNREFUSED', status: 503 }, 'opened /confirm?code=493817 with Bearer abc.def')
    expect(line).not.toMatch(/quillon|whortleberry|ypsilantium|abc\.def|xyz|555.?0100|493817|eyJ|maren/i)
    expect(JSON.parse(line)).toMatchObject({
      guardianName: '[redacted]',
      attempts: [{ phone: '[redacted]', code: '[redacted]', note: 'call [phone]' }],
      page: '/reset?[query]',
      code: 'ECONNREFUSED',
      status: 503,
      msg: 'opened /confirm?[query] with Bearer [token]',
    })
  })
})

describe('a measurement', () => {
  it('is read once for all scrapes of its interval, and its last value is served while it fails', async () => {
    const metrics = createMetrics()
    let readings = 0
    metrics.measure({
      everyMs: 60_000,
      async read() {
        readings += 1
        metrics.deadLetters.set(readings)
      },
    })
    let fails = false
    metrics.measure({
      everyMs: 0,
      async read() {
        if (fails) throw new Error('The database is away.')
        metrics.outboxPending.set(7)
      },
    })
    await Promise.all([metrics.expose(), metrics.expose()])
    fails = true
    const text = await metrics.expose()
    expect(readings).toBe(1)
    expect(text).toMatch(/^dead_letters 1$/m)
    expect(text).toMatch(/^outbox_pending 7$/m)
    expect(text).toMatch(/^metrics_readings_failed_total 1$/m)
  })
})

import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { createLogger, errorForLog, inTrace } from './telemetry.ts'

describe('errorForLog', () => {
  it('tells which statement failed and why, and none of the values that were sent with it', () => {
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

  it('leaves any other error as it is', () => {
    const error = Object.assign(new TypeError('No number.'), { at: 5 })
    expect(errorForLog(error)).toMatchObject({ type: 'TypeError', message: 'No number.', at: 5 })
  })
})

describe('a line of the log', () => {
  it('has the ids of its own trace, and nothing of the lines before it', () => {
    const lines: Record<string, unknown>[] = []
    const log = createLogger('test', 'info', {
      write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>),
    })
    inTrace(undefined, 'request-1', () => {
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
})

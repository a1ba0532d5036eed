import { DrizzleQueryError } from 'drizzle-orm'
import { describe, expect, it } from 'vitest'
import { errorForLog } from './telemetry.ts'

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

import { expiriesOf, runtimeTables, sweep, type Expiry } from '@robokids/runtime/sweep'
import { Clock } from '@robokids/runtime/clock'
import { connect, type Connection } from '@robokids/runtime/db'
import { createLogger } from '@robokids/runtime/telemetry'
import { applications, owningServices, type OwningService } from '@robokids/local/services'
import { randomUUIDv7 } from 'node:crypto'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest'
import { migratedDatabase } from './src/databases.ts'

type Row = Record<string, unknown>

/** What the rows of a rule with conditions have, and what old rows have that do not meet them, so that they are kept. */
interface Case {
  pruned?: Row
  kept?: Row[]
  /** Old rows that are kept because of a row of another table with their key in a column. */
  because?: { table: string; column: string; has?: Row }[]
}

const unpaid = { status: 'expired' }
/** By table, or by table and the number of its rule. */
const cases: Record<string, Case> = {
  outbox: { kept: [{ published_at: null }] },
  dead_letters: { kept: [{ replayed_at: null }] },
  sign_ins: {
    pruned: { ended_at: null },
    kept: [{ ended_at: new Date() }],
    because: [{ table: 'refresh_tokens', column: 'sign_in_id', has: { expires_at: new Date(Date.now() + 3_600_000) } }],
  },
  'devices 0': { pruned: { sealed_srp_verifier: null }, kept: [{ sealed_srp_verifier: 'sealed' }] },
  registrations: {
    pruned: { ...unpaid, payment_id: null },
    kept: [{ status: 'held' }, { status: 'confirmed' }, { ...unpaid, payment_id: randomUUIDv7() }],
    because: [
      { table: 'payments', column: 'registration_id' },
      { table: 'refunds', column: 'registration_id' },
      { table: 'disputes', column: 'registration_id', has: { status: 'lost' } },
      { table: 'waivers', column: 'registration_id', has: { membership_id: null, member: null } },
      { table: 'kit_shipments', column: 'registration_id' },
    ],
  },
  waitlist_entries: { pruned: { status: 'left' }, kept: [{ status: 'waiting' }, { status: 'offered' }] },
  plan_offers: { pruned: { agreed_at: null }, kept: [{ agreed_at: new Date() }] },
  checkout_attempts: {
    pruned: unpaid,
    kept: [{ status: 'paid' }, { status: 'processing' }],
    because: [{ table: 'payments', column: 'attempt_id', has: { membership_id: null, outcome: 'duplicate' } }],
  },
  orders: {
    pruned: { email: null },
    kept: [{ email: 'maren@example.com' }],
    because: [
      {
        table: 'payments',
        column: 'registration_id',
        has: { membership_id: null, attempt_id: randomUUIDv7(), outcome: 'duplicate' },
      },
    ],
  },
  membership_attempts: {
    pruned: unpaid,
    kept: [{ status: 'paid' }],
    because: [{ table: 'memberships', column: 'attempt_id' }],
  },
  'mails 0': {
    pruned: { kind: 'code_issued', status: 'sent' },
    kept: [
      { kind: 'code_issued', status: 'pending' },
      { kind: 'registration_confirmed', status: 'sent' },
    ],
  },
  'mails 1': { pruned: { kind: 'registration_confirmed', status: 'sent' }, kept: [{ status: 'pending' }] },
  notices: { pruned: { status: 'told' }, kept: [{ status: 'confirmed' }] },
}

interface Column {
  name: string
  type: string
  isNullable: boolean
}

/** A database of a service, in which rows need neither references nor all of their columns. */
interface Rows {
  connection: Connection
  insert(table: string, row: Row): Promise<Row>
  /** How many of these rows exist. */
  count(table: string, rows: Row[]): Promise<number>
  close(): Promise<void>
}

async function openRows(name: OwningService): Promise<Rows> {
  const { migrations = '' } = await applications[name].load()
  const tag = randomUUIDv7().replaceAll('-', '')
  const url = await migratedDatabase(inject('postgresUrl'), `pruning_${tag}`, migrations)
  const sql = postgres(url, { max: 1, onnotice: () => {} })
  // Rows without those that they refer to.
  await sql`set session_replication_role = replica`
  const connection = connect({ DATABASE_URL: url, DATABASE_POOL: 2 }, name, createLogger('test', 'silent'))
  let number = 0
  const anyValue = (type: string): unknown => {
    number += 1
    if (type === 'uuid') return randomUUIDv7()
    if (type === 'boolean') return false
    if (/^(integer|bigint)$/.test(type)) return number
    if (type.startsWith('json')) return {}
    if (/^(timestamp|date)/.test(type)) return new Date()
    if (type === 'ARRAY') return []
    return type === 'bytea' ? Buffer.from('') : `row-${number}`
  }
  const keys = (row: Row) => Object.entries(row).filter(([, value]) => typeof value === 'string')
  return {
    connection,
    async insert(table, row) {
      const columns = await sql<Column[]>`
        select column_name as name, data_type as type, is_nullable = 'YES' as "isNullable"
        from information_schema.columns
        where table_name = ${table} and table_schema = 'public' and is_identity = 'NO'`
      const required = columns.filter(({ isNullable, name: column }) => !isNullable && !(column in row))
      const full: Row = {
        ...Object.fromEntries(required.map(({ name: column, type }) => [column, anyValue(type)])),
        ...row,
      }
      await sql`insert into ${sql(table)} ${sql(full as Record<string, never>)}`
      return full
    },
    async count(table, rows) {
      let found = 0
      for (const row of rows) {
        const conditions = keys(row).map(([column, value]) => sql`${sql(column)}::text = ${String(value)}`)
        const where = conditions.reduce((all, one) => sql`${all} and ${one}`)
        const [counted] = await sql<
          { count: number }[]
        >`select count(*)::int as count from ${sql(table)} where ${where}`
        found += counted?.count ?? 0
      }
      return found
    },
    async close() {
      await Promise.all([sql.end(), connection.close()])
    },
  }
}

const hour = 3_600_000
/** The first column of the time, such as `ended_at`; nulls of the others are ignored. */
const columnsOf = (since: string) => since.match(/\w+_at/g) ?? []

describe.each(owningServices)('Old rows of %s', (name) => {
  let rows: Rows
  beforeAll(async () => {
    rows = await openRows(name)
  })
  afterAll(() => rows.close())

  it('are deleted once they are old enough, and only those that may be', async () => {
    const { tables = {} } = await applications[name].load()
    const seen = new Map<string, number>()
    const expected: { table: string; gone: Row[]; left: Row[] }[] = []
    for (const { table, ...expiry } of expiriesOf({ ...runtimeTables(30), ...tables })) {
      const index = seen.get(table) ?? 0
      seen.set(table, index + 1)
      // Consents go with their attempts, below.
      if (table === 'membership_consents') continue
      expected.push({ table, ...(await insertCase(table, expiry, cases[`${table} ${index}`] ?? cases[table])) })
    }
    if (name === 'billing') expected.push(await insertConsents())
    await sweep(rows.connection.db, { ...runtimeTables(30), ...tables }, new Clock(), AbortSignal.any([]))
    for (const { table, gone, left } of expected) {
      expect([table, await rows.count(table, gone)]).toEqual([table, 0])
      expect([table, await rows.count(table, left)]).toEqual([table, left.length])
    }
  })

  async function insertCase(table: string, { days, since, only }: Expiry, one: Case = {}) {
    // A condition needs a case of its own.
    if (only !== undefined) expect([table, one.pruned]).toEqual([table, expect.any(Object)])
    const at = (ms: number) =>
      Object.fromEntries(columnsOf(since).map((column) => [column, new Date(Date.now() - days * 24 * hour - ms)]))
    const { pruned = {}, kept = [], because = [] } = one
    const gone = [await rows.insert(table, { ...at(hour), ...pruned })]
    const left = [await rows.insert(table, { ...at(-hour), ...pruned })]
    for (const row of kept) left.push(await rows.insert(table, { ...at(hour), ...row }))
    for (const { table: other, column, has } of because) {
      const row = await rows.insert(table, { ...at(hour), ...pruned })
      await rows.insert(other, { ...has, [column]: row['id'] })
      left.push(row)
    }
    return { gone, left }
  }

  async function insertConsents() {
    const old = new Date(Date.now() - 181 * 24 * hour)
    const consent = async (isMember: boolean) => {
      const attempt = await rows.insert('membership_attempts', { ...unpaid, created_at: old })
      if (isMember) await rows.insert('memberships', { attempt_id: attempt['id'] })
      const evidence = { attempt_id: attempt['id'], agreed_at: old, ip_address: '::1', user_agent: 'test' }
      return rows.insert('membership_consents', evidence)
    }
    return { table: 'membership_consents', gone: [await consent(false)], left: [await consent(true)] }
  }
})

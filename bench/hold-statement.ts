import { randomUUIDv7 } from 'node:crypto'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { Clock } from '@robokids/runtime/clock'
import { ConnectionPool, databaseOn } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { createLogger } from '@robokids/runtime/telemetry'
import postgres from 'postgres'
import type { Config } from '../services/enrollment/src/config.ts'
import { holdSeats } from '../services/enrollment/src/registrations/hold-seats.ts'

/** What the site sends for a family that registers one child: each is another family. */
export function familyRequest(session: { classType: LevelClassType; date: string }) {
  const id = randomUUIDv7()
  return {
    id,
    guardianName: 'Maren Holt',
    email: `${id}@example.com`,
    childName: 'Ivo',
    childAge: 9,
    siblings: [],
    addressLine1: '14 Alder Way',
    addressLine2: 'Unit 2',
    city: 'San Mateo',
    state: 'CA',
    zipCode: '94401',
    classType: session.classType,
    startDate: session.date,
    unlessRegistered: true,
    familyTimeZone: 'America/Los_Angeles',
  }
}

/** What the BFF adds: the browser that asks, and its network, another one each time. */
export function visitor() {
  const browserId = randomUUIDv7()
  return { browserId, network: `10.${browserId.slice(-6)}/24` }
}

interface HoldStatements {
  /** A pgbench script's statements: the variables `registration`, `event`, `class_type` and `date` are its script's to set. */
  sql: string
  /** The values of all other variables. */
  variables: Record<string, string>
}

/**
 * The transaction by which enrollment holds seats, word for word as its use case sends it: the use case runs once, on a
 * connection that tells what passes, which are sent together. One thing differs in what pgbench sends: each parameter that holds an id, the email, the
 * browser or the network is spelled from an integer, as pgbench has no strings to make a UUID of.
 */
export async function recordHoldStatements(databaseUrl: string, clock: Clock): Promise<HoldStatements> {
  const seen: { text: string; parameters: unknown[] }[] = []
  const client = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const pool = new ConnectionPool(databaseUrl, { max: 2, application: 'bench', log: createLogger('bench', 'silent') })
  const db = databaseOn({
    query: (statement, values) => pool.query(statement, values),
    lease: async () => {
      const lease = await pool.lease()
      return {
        query: (statement, values) => lease.query(statement, values),
        queryAll(statements) {
          seen.push(...statements.map(({ text, values = [] }) => ({ text, parameters: values })))
          return lease.queryAll(statements)
        },
        release: () => lease.release(),
      }
    },
  })
  try {
    const [session] = await client<{ date: string }[]>`
      select date::text from class_sessions where class_type = 'basic' and starts_at > now() order by date limit 1`
    if (!session) throw new Error('No class is on sale in the database of the peer.')
    const request = familyRequest({ classType: 'basic', ...session })
    const { browserId, network } = visitor()
    const config = { UNOPENED_HOLD_MINUTES: 10, UNPAID_SEATS_PER_FAMILY: 12, UNPAID_SEATS_PER_NETWORK: 16 }
    await holdSeats({ ...request, browserId, network }, { db, clock, config } as unknown as Context<Config>)

    const holds = seen.filter(({ text }) => /update class_sessions set held/.test(text))
    if (seen.length !== 4 || holds.length !== 1)
      throw new Error('A hold is expected to be its locks and one statement, and is not any more.')
    const outboxRows = await client<{ id: string }[]>`select id from outbox where type = 'registration.held'`
    if (outboxRows.length !== 1) throw new Error('A hold is expected to publish one event, and does not any more.')

    const id = "lpad(:registration, 32, '0')"
    const known = new Map([
      [request.id, `${id}::uuid`],
      [outboxRows[0]?.id ?? '', "lpad(:event, 32, '0')::uuid"],
      [request.email, `(${id} || '@example.com')`],
      [browserId, `${id}::uuid::text`],
      [network, id],
      [JSON.stringify([`unpaid network ${network}`, `unpaid asker ${browserId}`]), `json_build_array(${id})::text`],
      [request.classType, ':class_type'],
      [request.startDate, ':date'],
    ])
    const variables: Record<string, string> = {}
    const sql = seen.map(({ text, parameters }, index) => {
      const spelled = text.replaceAll(/\$(\d+)/g, (_, number: string) => {
        const parameter = parameters[Number(number) - 1]
        if (parameter === null) return 'null'
        const value = `${parameter as string | number | boolean}`
        const expression = known.get(value)
        if (expression !== undefined) return expression
        variables[`p${index}_${number}`] = value
        return `:p${index}_${number}`
      })
      return `${spelled};`
    })
    for (const expression of known.values())
      if (!sql.some((statement) => statement.includes(expression)))
        throw new Error(`${expression} is missing from the statements of a hold.`)
    return { sql: ['\\startpipeline', ...sql, '\\endpipeline'].join('\n'), variables }
  } finally {
    await pool.close()
    await client.end()
  }
}

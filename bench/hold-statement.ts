import { randomUUIDv7 } from 'node:crypto'
import type { Clock } from '@robokids/runtime/clock'
import { connect } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { createLogger } from '@robokids/runtime/telemetry'
import postgres from 'postgres'
import type { Config } from '../services/enrollment/src/config.ts'
import { holdSeats } from '../services/enrollment/src/hold-seats.ts'

/** What every measured request says; each adds its id and its class. */
export const family = {
  guardianName: 'Maren Holt',
  email: 'maren.holt@example.com',
  childName: 'Ivo',
  childAge: 9,
  siblings: [],
  addressLine1: '14 Alder Way',
  addressLine2: 'Unit 2',
  city: 'San Mateo',
  state: 'CA',
  zipCode: '94401',
}

interface HoldStatement {
  /** A pgbench script's statement: the variables `registration`, `event`, `class_type` and `date` are its script's to set. */
  sql: string
  /** The values of all other variables. */
  variables: Record<string, string>
}

/**
 * The statement by which enrollment holds seats, word for word as its use case sends it: the use case runs once, on a
 * connection that tells what passes. Two things differ in what pgbench sends: each parameter that holds the id of the
 * registration or of its event is spelled from an integer, as pgbench has no strings to make a UUID of.
 */
export async function recordHoldStatement(databaseUrl: string, clock: Clock): Promise<HoldStatement> {
  const seen: { text: string; parameters: unknown[] }[] = []
  const client = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  const log = createLogger('bench', 'silent')
  const connection = connect({ DATABASE_URL: databaseUrl, DATABASE_POOL: 2 }, 'bench', log)
  const { $client: pool } = connection.db
  const db = Object.assign(connection.db, {
    $client: {
      query(...[statement, parameters = []]: Parameters<typeof pool.query>) {
        seen.push({ text: statement.text, parameters })
        return pool.query(statement, parameters)
      },
    },
  })
  try {
    const [session] = await client<{ date: string }[]>`
      select date::text from class_sessions where class_type = 'basic' and starts_at > now() order by date limit 1`
    if (!session) throw new Error('No class is on sale in the database of the peer.')
    const request = { ...family, id: randomUUIDv7(), classType: 'basic', startDate: session.date } as const
    const context = { db, clock, config: { HOLD_MINUTES: 36 } }
    await holdSeats(request, context as unknown as Context<Config>)

    const holds = seen.filter(({ text }) => /update class_sessions set held/.test(text))
    const [hold] = holds
    if (!hold || holds.length > 1) throw new Error('A hold is expected to be one statement, and is not any more.')
    const outboxRows = await client<{ id: string }[]>`select id from outbox`
    if (outboxRows.length !== 1) throw new Error('A hold is expected to publish one event, and does not any more.')

    const spelled = (variable: string) => `lpad(:${variable}, 32, '0')::uuid`
    const known = new Map([
      [request.id, spelled('registration')],
      [outboxRows[0]?.id ?? '', spelled('event')],
      [request.classType, ':class_type'],
      [request.startDate, ':date'],
    ])
    const variables: Record<string, string> = {}
    const sql = hold.text.replaceAll(/\$(\d+)/g, (_, number: string) => {
      const parameter = hold.parameters[Number(number) - 1]
      if (parameter === null) return 'null'
      const value = `${parameter as string | number | boolean}`
      const expression = known.get(value)
      if (expression !== undefined) return expression
      variables[`p${number}`] = value
      return `:p${number}`
    })
    for (const expression of known.values())
      if (!sql.includes(expression)) throw new Error(`${expression} is missing from the statement of a hold.`)
    return { sql, variables }
  } finally {
    await connection.close(1_000)
    await client.end()
  }
}

import { parseArgs } from 'node:util'
import { ensureDatabase } from '@robokids/local/postgres'
import { Clock } from '@robokids/runtime/clock'
import { prepareDatabase } from '@robokids/runtime/prepare-database'
import { createLogger } from '@robokids/runtime/telemetry'
import postgres from 'postgres'
import { enrollment } from '../services/enrollment/src/app.ts'
import { openDoor, sessionsOnSale, type ClassSession } from './doors.ts'
import { recordHoldStatements } from './hold-statement.ts'
import { alternate, printResults, printSurroundings, type Figures } from './measure.ts'
import { connections, startMeasuredSystem } from './measured-system.ts'
import { findPgbench, runPgbench } from './pgbench.ts'

/** Each worker and each connection of pgbench keeps to one class session: a row of its own, or the same for all. */
type Spread = 'many classes' | 'one class'

/** Counts seats and registrations, and finds them equal to what was answered. */
async function assertHeld(sql: postgres.Sql, expected: number): Promise<void> {
  const [found] = await sql<{ rows: number; events: number; seats: number }[]>`
    select (select count(*)::int from registrations) as rows,
      (select count(*)::int from outbox where type = 'registration.held') as events,
      (select sum(held)::int from class_sessions) as seats`
  if (!found || [found.rows, found.events, found.seats].some((count) => count !== expected))
    throw new Error(`${expected} holds were answered, but the database has ${JSON.stringify(found)}.`)
}

async function startPeer(postgresUrl: string, pgbench: string) {
  const databaseUrl = await ensureDatabase(postgresUrl, 'peer')
  const clock = new Clock()
  const config = { DATABASE_URL: databaseUrl, DATABASE_POOL: 2 }
  await prepareDatabase(config, enrollment.migrations ?? '', createLogger('bench', 'silent'), async (db) => {
    await enrollment.seed?.(db, clock, enrollment.config.parse({}))
  })
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} })
  await sql`update class_sessions set capacity = 1000000`
  const hold = await recordHoldStatements(databaseUrl, clock)
  // The one that was recorded.
  let held = 1

  return {
    /** Runs the statements of a hold and nothing else, over the soonest `sessions` class sessions. */
    async run(transactions: number, sessions: number): Promise<Figures> {
      const script = `\\if :bound = 0
\\set nth :client_id % :sessions
select class_type, date from class_sessions where class_type <> 'membership' and starts_at > now()
order by date, class_type limit 1 offset :nth
\\gset
\\set bound 1
\\endif
\\set registration random(1, 1000000000000000000)
\\set event random(1, 1000000000000000000)
${hold.sql}
`
      const variables = { ...hold.variables, bound: '0', sessions: String(sessions) }
      const run = { command: pgbench, databaseUrl, script, variables, connections, transactions }
      const { made, figures } = await runPgbench(run)
      held += made
      await assertHeld(sql, held)
      return figures
    },
    stop: () => sql.end(),
  }
}

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const rounds = values.quick ? 1 : 5
const part = values.quick ? 0.1 : 1

const pgbench = await findPgbench()
const measured = await startMeasuredSystem()
const stops: (() => Promise<void>)[] = [() => measured.stop()]
try {
  const { system } = measured
  const peer = await startPeer(measured.postgresUrl, pgbench.command)
  const direct = openDoor(system.processes.enrollment.url, '/registrations', {})
  const bff = openDoor(system.siteUrl, '/api/registrations', { 'x-api-key': 'robokids-web' })
  stops.push(
    () => peer.stop(),
    () => direct.stop(),
    () => bff.stop(),
  )
  const sessions = await sessionsOnSale(system)
  const sessionsOf: Record<Spread, ClassSession[]> = { 'many classes': sessions, 'one class': sessions.slice(0, 1) }

  const phases = (['many classes', 'one class'] as const).flatMap((spread) => {
    const on = sessionsOf[spread]
    const limit = `pgbench, ${spread}`
    return [
      { name: limit, peer: limit, run: () => peer.run(2000 * part, on.length) },
      { name: `enrollment, ${spread}`, peer: limit, run: () => direct.run(1000 * part, on) },
      { name: `BFF, ${spread}`, peer: limit, run: () => bff.run(300 * part, on) },
    ]
  })

  printSurroundings(`${measured.versions}, ${pgbench.version}`)
  const results = await alternate(phases, rounds, () => measured.settled())
  await assertHeld(system.sql('enrollment'), direct.answered() + bff.answered())

  printResults(`registrations, ${connections} at a time`, phases, results)
} finally {
  for (const stop of stops.toReversed()) await stop()
}

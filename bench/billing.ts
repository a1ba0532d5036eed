import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import { eventually } from '@robokids/test/bed'
import { startSystem, type ServiceProcess, type System } from '@robokids/test/system'
import { printSurroundings } from './measure.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const sales = values.quick ? 40 : 400
const members = values.quick ? 20_000 : 200_000
/** How long the real provider takes for a request, about. */
const providerMs = 200

async function control(system: System, path: string, body: object): Promise<void> {
  const answer = await fetch(`${system.simulator.url}/_sim${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  if (!answer.ok) throw new Error(`${path} was answered ${answer.status}: ${await answer.text()}`)
}

/** Has families pay without any webhook, then starts a billing. @returns how many payments it finds an hour. */
async function reconcilePayments(system: System): Promise<number> {
  const sql = system.sql('billing')
  await control(system, '/webhooks/config', { dropped: true })
  let left = sales
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      while (left-- > 0) await system.pay((await system.register()).checkoutUrl)
    }),
  )
  await system.processes.billing.stop()
  await control(system, '/faults', {
    kind: 'delay',
    path: '/v1/*',
    times: 10_000,
    when: 'before',
    delayMs: providerMs,
  })
  const begun = performance.now()
  const billing = await system.another('billing', { RECONCILE_EVERY_MS: '60000' })
  await eventually(async () => (await sql`select from payments`).length === sales, 600_000)
  const elapsedMs = performance.now() - begun
  await billing.stop()
  return (sales / elapsedMs) * 3_600_000
}

async function residentBytes({ url }: ServiceProcess): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text()
  return Number(/^process_resident_memory_bytes (\S+)$/m.exec(metrics)?.[1])
}

/** Makes members whose reminder is due, then starts a billing. @returns how long it reminds them, and the memory it takes. */
async function remindAll(system: System): Promise<{ seconds: number; idleMb: number; mostMb: number }> {
  const sql = system.sql('billing')
  await sql`
    insert into membership_attempts (id, email, email_key, plan, class_date, status, amount, currency, parameters, expires_at, checked_at, created_at)
    select gen_random_uuid(), email, email, 'monthly', '2027-01-08', 'paid', 700, 'usd', '{}', now(), now(), now()
    from (select format('member.%s@example.com', nth) as email from generate_series(1, ${members}::int) as nth) as all_members`
  await sql`
    insert into memberships (attempt_id, email, email_key, plan, stripe_subscription_id, stripe_customer_id, amount, currency, status, activated_at, paid_until)
    select id, email, email, 'monthly', 'sub_' || id, 'cus_' || id, 700, 'usd', 'active', now() - interval '400 days', now() + interval '1 day'
    from membership_attempts where email like 'member.%'`
  const billing = await system.another('billing', { RECONCILE_EVERY_MS: '3600000' })
  const begun = performance.now()
  const idle = await residentBytes(billing)
  let most = 0
  await eventually(async () => {
    most = Math.max(most, await residentBytes(billing))
    const [row] = await sql<{ count: number }[]>`
      select count(*)::int as count from memberships where reminded_at is null and email like 'member.%'`
    return row?.count === 0
  }, 1_200_000)
  const seconds = (performance.now() - begun) / 1_000
  await billing.stop()
  const megabytes = 2 ** 20
  return { seconds, idleMb: idle / megabytes, mostMb: most / megabytes }
}

const dataDir = await mkdtemp(join(tmpdir(), 'robokids-bench-'))
const server = await startPostgres({ dataDir, port: await freePort() })
try {
  const settings = { all: { LOG_LEVEL: 'error' }, billing: { RECONCILE_EVERY_MS: '3600000' } }
  const system = await startSystem({ ...settings, bff: { RATE_LIMIT_WRITES: '1000000' } }, server.url)
  try {
    printSurroundings('nats-server and PostgreSQL of this machine')
    await system.sql('enrollment')`update class_sessions set capacity = 1000000`
    // Mails would take the machine.
    await system.processes.notifications.stop()
    const perHour = await reconcilePayments(system)
    console.log(
      `reconcile: ${perHour.toFixed(0)} payments an hour, with ${providerMs} ms for each request to the provider`,
    )
    const { seconds, idleMb, mostMb } = await remindAll(system)
    const memory = `${mostMb.toFixed(0)} MiB at most, ${idleMb.toFixed(0)} at its start`
    console.log(`remind-members: ${members} members in ${seconds.toFixed(0)} s, ${memory}`)
  } finally {
    await system.stop()
  }
} finally {
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}

import { owningServices } from '@robokids/local/services'
import { Violation } from './violation.ts'
import type { Walk } from './walk.ts'
import { jobRuns, type World } from './world.ts'

/** Work that a service has stored and not completed. */
const unfinished = {
  billing: `
    select 'a refund to be made' as what from refunds where status = 'pending' and stripe_refund_id is null
    union all select 'a checkout to be closed' from checkout_attempts
      where close_requested_at is not null and status in ('creating', 'open')
    union all select 'a membership to be ended' from memberships where end_request is not null
    union all select 'an event of the provider that failed' from failed_events`,
  enrollment: `select 'a signed PDF to be made' as what from waivers where signed_pdf is null
    union all select 'an offer to be ended' from waitlist_entries where status = 'offered' and offer_ends_at <= now()
    union all select 'a move to be ended' from changes where status = 'held' and held_until <= now()`,
  notifications: `select 'a mail to be sent: ' || kind as what from mails where status = 'pending'`,
} as const

/** Jobs that search for work instead of processing rows: each is run while settling. */
const scanningJobs = ['reconcile'] as const

/** Makes everything that waits for a retry due now. */
async function makeRetriesDue(world: World): Promise<void> {
  await Promise.all(
    owningServices.map(async (service) => {
      const sql = world.system.sql(service)
      const columns = await sql<{ table: string; column: string }[]>`
        select table_name as table, column_name as column from information_schema.columns
        where table_schema = 'public' and column_name in ('next_try_at', 'pdf_due_at', 'retry_at', 'leased_until')`
      for (const { table, column } of columns)
        await sql`update ${sql(table)} set ${sql(column)} = now() where ${sql(column)} > now()`
      for (const job of jobsOf[service]) await world.system.wake(service, job)
    }),
  )
}

const jobsOf = {
  identity: ['outbox'],
  enrollment: ['outbox', 'make-signed-pdfs', 'run-waitlists', 'expire-moves'],
  billing: ['outbox', 'run-refunds', 'close-checkouts', 'end-memberships', 'reconcile'],
  notifications: ['outbox', 'send-mails'],
} as const

async function waiting(world: World): Promise<string[]> {
  const rows = await Promise.all(
    Object.entries(unfinished).map(async ([service, query]) => {
      const found = await world.system.sql(service as keyof typeof unfinished).unsafe<{ what: string }[]>(query)
      return found.map(({ what }) => `${service}: ${what}`)
    }),
  )
  const { pending } = (await world.control('webhooks/flush')).body
  const deliveries = Number(pending) > 0 ? [`${String(pending)} webhooks to be delivered`] : []
  return [...deliveries, ...rows.flat(), ...(await world.events.waiting())]
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** Waits until nothing is in progress. @throws Violation if something never completes */
async function quiet(world: World, withinMs = 60_000): Promise<void> {
  const begun = performance.now()
  for (let round = 0; ; round += 1) {
    const left = await waiting(world)
    if (left.length === 0) return
    const spent = performance.now() - begun
    if (spent > withinMs) throw new Violation('all comes to its end', [...new Set(left)].join(', '))
    // First give ongoing work time to complete by itself.
    if (round % 20 === 19) await makeRetriesDue(world)
    await pause(Math.min(10 + round * 5, 100))
  }
}

/** Waits until every published event is handled. */
export async function quietEvents(world: World): Promise<void> {
  for (let round = 0; round < 200; round += 1) {
    if ((await world.events.waiting()).length === 0) return
    await pause(10)
  }
}

/** Runs a billing job to completion. */
async function run(world: World, job: string): Promise<void> {
  const before = await jobRuns(world.system.processes.billing.url, job)
  await world.system.wake('billing', job)
  const begun = performance.now()
  for (let tries = 0; ;) {
    const now = await jobRuns(world.system.processes.billing.url, job)
    if (now.done > before.done) return
    if (now.failed > before.failed + tries) {
      tries += 1
      if (tries === 3) throw new Violation('all comes to its end', `${job} fails`)
      await world.system.wake('billing', job)
    }
    if (performance.now() - begun > 60_000) throw new Violation('all comes to its end', `${job} does not end`)
    await pause(15)
  }
}

/**
 * Has billing reconcile with the provider, as it does every minute: needed before much time passes there, since the
 * provider lists events of thirty days only.
 * @returns false if that failed
 */
export async function catchUp(world: World): Promise<boolean> {
  if (!world.system.processes.billing.isRunning()) return false
  try {
    await run(world, 'reconcile')
    return true
  } catch {
    return false
  }
}

/** Ends all outages and waits until everything is published and handled. */
export async function settle(walk: Walk): Promise<void> {
  const { world } = walk
  await world.restore()
  await quiet(world)
  await world.system.sql('billing')`
    update checkout_attempts set checked_at = now() - interval '1 day' where status in ('creating', 'open', 'processing')`
  await world.system.sql('billing')`
    update membership_attempts set checked_at = now() - interval '1 day' where status in ('creating', 'open', 'processing')`
  // The first run may have been in progress already, and have started too early to find everything.
  for (const job of [...scanningJobs, ...scanningJobs]) await run(world, job)
  await quiet(world)
  walk.hasFaults = false
  for (const account of walk.accounts) if (account.state === 'deleted') account.goneSince ??= new Date()
}

import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql, type SQL } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockNames } from './lock-registration.ts'
import { refuseTooManyUnpaid, type Asker, type UnpaidSeats } from './rules.ts'

/** Whoever asks for seats. */
export interface Applicant extends Asker {
  /** Undefined where a BFF of the version before asks, which tells none: nothing is limited then. */
  network: string | undefined
}

/** The locks of the account, the browser and the network; none where nothing is limited. */
export function unpaidNames({ ownerId, browserId, network }: Applicant): string[] {
  if (network === undefined) return []
  const askers = [ownerId, browserId].filter((id) => id !== null)
  return [`unpaid network ${network}`, ...askers.map((id) => `unpaid asker ${id}`)]
}

/**
 * Keeps others of the account, the browser and the network waiting: two that count at once would both find room. It is taken
 * before any other lock, so that whoever waits here keeps nobody waiting elsewhere.
 */
export function lockUnpaid(tx: Transaction, applicant: Applicant): Promise<void> {
  return lockNames(tx, unpaidNames(applicant))
}

/** The unpaid seats of a family, which is an account or a browser, and of a network. */
function unpaidOf({ ownerId, browserId, ...applicant }: Applicant): SQL {
  const network = applicant.network ?? null
  return sql`(
    select id::text, seats, held_until,
      coalesce(asked_owner_id = ${ownerId}::uuid, false) or coalesce(browser_id = ${browserId}::uuid, false) as of_family,
      coalesce(network = ${network}::text, false) as of_network
    from registrations
    where status = 'held'
      and (asked_owner_id = ${ownerId}::uuid or browser_id = ${browserId}::uuid or network = ${network}::text)
    union all
    select * from (
      select holder, 1, held_until,
        coalesce(split_part(holder, ' ', 2) in (${ownerId}::text, ${browserId}::text), false) as of_family,
        coalesce(network = ${network}::text, false) as of_network
      from (
        select email_key as holder, held_until, network from member_holds
        union all
        select email_key, held_until, network from pending_member_holds
      ) as holds
    ) as members
    where of_family or of_network
  ) as unpaid`
}

const limitsOf = (config: Config) => ({
  family: config.UNPAID_SEATS_PER_FAMILY,
  network: config.UNPAID_SEATS_PER_NETWORK,
})

/** Whether a family and a network may have so many more, as a condition within a statement. What `refuseTooMany` says otherwise. */
export function hasRoom(applicant: Applicant, wanted: number, config: Config): SQL {
  const limits = limitsOf(config)
  return sql`(${applicant.network ?? null}::text is null or (
    select coalesce(sum(seats) filter (where of_family), 0) + ${wanted} <= ${limits.family}
      and coalesce(sum(seats) filter (where of_network), 0) + ${wanted} <= ${limits.network}
    from ${unpaidOf(applicant)}
  ))`
}

/**
 * Refuses seats beyond what a family and a network may have unpaid at once; under `lockUnpaid`. A family is who asks, an account
 * or a browser: what others hold with its address, which anybody can type, does not count.
 * @param without registrations that give their seats back for these.
 * @throws DomainError `too_many_unpaid`
 */
export async function refuseTooMany(
  tx: Transaction,
  applicant: Applicant,
  wanted: number,
  { config, clock }: Context<Config>,
  without: string[] = [],
): Promise<void> {
  if (applicant.network === undefined) return
  const { rows } = await tx.execute<{ seats: number; heldUntil: string; ofFamily: boolean; ofNetwork: boolean }>(sql`
    select seats, to_json(held_until) #>> '{}' as "heldUntil", of_family as "ofFamily", of_network as "ofNetwork"
    from ${unpaidOf(applicant)}
    where not id in (select jsonb_array_elements_text(${JSON.stringify(without)}::jsonb))`)
  const unpaid: UnpaidSeats[] = rows.map((row) => ({ ...row, heldUntil: Temporal.Instant.from(row.heldUntil) }))
  refuseTooManyUnpaid(unpaid, wanted, limitsOf(config), clock.now())
}

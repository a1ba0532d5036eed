import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql, type SQL } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { lockNames } from './lock-registration.ts'
import { checkUnpaidLimits, type Requester, type UnpaidSeats } from '../rules.ts'

export interface Applicant extends Requester {
  /** Undefined from a BFF of the previous version: then there is no limit. */
  network: string | undefined
}

/** The names of the locks of the account, the browser and the network; empty if there is no limit. */
export function unpaidLockNames({ ownerId, browserId, network }: Applicant): string[] {
  if (network === undefined) return []
  const ids = [ownerId, browserId].filter((id) => id !== null)
  return [`unpaid network ${network}`, ...ids.map((id) => `unpaid asker ${id}`)]
}

/**
 * Locks the account, the browser and the network, so that concurrent requests cannot exceed a limit together. Taken before any
 * other lock, so that a waiting request blocks nobody else.
 */
export function lockUnpaid(tx: Transaction, applicant: Applicant): Promise<void> {
  return lockNames(tx, unpaidLockNames(applicant))
}

/** The unpaid seats of a family (an account or a browser) and of a network, as a subquery. */
function unpaidSeatsSql({ ownerId, browserId, ...applicant }: Applicant): SQL {
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

export const limitsOf = (config: Config) => ({
  family: config.UNPAID_SEATS_PER_FAMILY,
  network: config.UNPAID_SEATS_PER_NETWORK,
})

/** The SQL condition for `checkUnpaidSeats` passing. */
export function hasRoom(applicant: Applicant, wanted: number, config: Config): SQL {
  const limits = limitsOf(config)
  return sql`(${applicant.network ?? null}::text is null or (
    select coalesce(sum(seats) filter (where of_family), 0) + ${wanted} <= ${limits.family}
      and coalesce(sum(seats) filter (where of_network), 0) + ${wanted} <= ${limits.network}
    from ${unpaidSeatsSql(applicant)}
  ))`
}

/**
 * Rejects seats beyond the limits of unpaid seats per family and per network; requires `lockUnpaid`. A family is the requester's
 * account or browser: seats that others hold with its email, which anyone can type, do not count.
 * @param without registrations that are about to release their seats.
 * @throws DomainError `too_many_unpaid`
 */
export async function checkUnpaidSeats(
  tx: Transaction,
  applicant: Applicant,
  wanted: number,
  { config, clock }: Context<Config>,
  without: string[] = [],
): Promise<void> {
  if (applicant.network === undefined) return
  const { rows } = await tx.execute<{ seats: number; heldUntil: string; ofFamily: boolean; ofNetwork: boolean }>(sql`
    select seats, to_json(held_until) #>> '{}' as "heldUntil", of_family as "ofFamily", of_network as "ofNetwork"
    from ${unpaidSeatsSql(applicant)}
    where not id in (select jsonb_array_elements_text(${JSON.stringify(without)}::jsonb))`)
  const unpaid: UnpaidSeats[] = rows.map((row) => ({ ...row, heldUntil: Temporal.Instant.from(row.heldUntil) }))
  checkUnpaidLimits(unpaid, wanted, limitsOf(config), clock.now())
}

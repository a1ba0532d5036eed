import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockNames } from './lock-registration.ts'
import { refuseTooManyUnpaid, type Asker, type UnpaidSeats } from './rules.ts'

/** Whoever asks for seats. */
export interface Applicant extends Asker {
  /** Undefined where a BFF of the version before asks, which tells none: nothing is limited then. */
  network: string | undefined
}

/**
 * Keeps others of the account, the browser and the network waiting: two that count at once would both find room. It is taken
 * before any other lock, so that whoever waits here keeps nobody waiting elsewhere.
 */
export async function lockUnpaid(tx: Transaction, { ownerId, browserId, network }: Applicant): Promise<void> {
  if (network === undefined) return
  const askers = [ownerId, browserId].filter((id) => id !== null)
  await lockNames(tx, [`unpaid network ${network}`, ...askers.map((id) => `unpaid asker ${id}`)])
}

/**
 * Refuses seats beyond what a family and a network may have unpaid at once; under `lockUnpaid`. A family is who asks, an account
 * or a browser: what others hold with its address, which anybody can type, does not count.
 * @param without registrations that give their seats back for these.
 * @throws DomainError `too_many_unpaid`
 */
export async function refuseTooMany(
  tx: Transaction,
  { ownerId, browserId, network }: Applicant,
  wanted: number,
  { config, clock }: Context<Config>,
  without: string[] = [],
): Promise<void> {
  if (network === undefined) return
  const { rows } = await tx.execute<{ seats: number; heldUntil: string; ofFamily: boolean; ofNetwork: boolean }>(sql`
    select seats, to_json(held_until) #>> '{}' as "heldUntil", coalesce(of_family, false) as "ofFamily", coalesce(of_network, false) as "ofNetwork" from (
      select id::text, seats, held_until, coalesce(asked_owner_id = ${ownerId}::uuid, false) or browser_id = ${browserId}::uuid as of_family,
        network = ${network} as of_network
      from registrations where status = 'held'
      union all
      select holder, 1, held_until, split_part(holder, ' ', 2) in (${ownerId}::text, ${browserId}::text), network = ${network} from (
        select email_key as holder, held_until, network from member_holds
        union all
        select email_key, held_until, network from pending_member_holds
      ) as members
    ) as unpaid
    where (of_family or of_network) and not id in (select jsonb_array_elements_text(${JSON.stringify(without)}::jsonb))`)
  const unpaid: UnpaidSeats[] = rows.map((row) => ({ ...row, heldUntil: Temporal.Instant.from(row.heldUntil) }))
  const limits = { family: config.UNPAID_SEATS_PER_FAMILY, network: config.UNPAID_SEATS_PER_NETWORK }
  refuseTooManyUnpaid(unpaid, wanted, limits, clock.now())
}

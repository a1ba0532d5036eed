import type { Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { sql } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockNames } from './lock-registration.ts'
import { refuseTooManyUnpaid, type UnpaidSeats } from './rules.ts'

/** Whoever asks for seats. */
export interface Applicant {
  emailKey: string
  /** The account that is signed in, or that the registration belongs to. */
  ownerId: string | null
  /** Undefined where a BFF of the version before asks, which tells none: nothing is limited then. */
  network: string | undefined
}

/**
 * Keeps others of the family and of the network waiting: two that count at once would both find room. It is taken before any
 * other lock, so that whoever waits here keeps nobody waiting elsewhere.
 */
export async function lockUnpaid(tx: Transaction, { emailKey, ownerId, network }: Applicant): Promise<void> {
  if (network === undefined) return
  const names = [`unpaid email ${emailKey}`, `unpaid network ${network}`]
  await lockNames(tx, ownerId === null ? names : [...names, `unpaid owner ${ownerId}`])
}

/**
 * Refuses seats beyond what a family and a network may have unpaid at once; under `lockUnpaid`.
 * @param without registrations that give their seats back for these.
 * @throws DomainError `too_many_unpaid`
 */
export async function refuseTooMany(
  tx: Transaction,
  { emailKey, ownerId, network }: Applicant,
  wanted: number,
  { config, clock }: Context<Config>,
  without: string[] = [],
): Promise<void> {
  if (network === undefined) return
  const { rows } = await tx.execute<{ seats: number; heldUntil: string; ofFamily: boolean; ofNetwork: boolean }>(sql`
    select seats, to_json(held_until) #>> '{}' as "heldUntil", of_family as "ofFamily", of_network as "ofNetwork" from (
      select id::text, seats, held_until, email_key = ${emailKey} or coalesce(owner_id = ${ownerId}::uuid, false) as of_family,
        coalesce(network = ${network}, false) as of_network
      from registrations where status = 'held' and (email_key = ${emailKey} or owner_id = ${ownerId}::uuid or network = ${network})
      union all
      select holder, 1, held_until, address = ${emailKey} or coalesce(account = ${ownerId}::text, false), coalesce(network = ${network}, false) from (
        select email_key as holder, held_until, network from member_holds
        union all
        select email_key, held_until, network from pending_member_holds
      ) as members, split_part(holder, ' ', 1) as address, nullif(split_part(holder, ' ', 2), '') as account
      where address = ${emailKey} or account = ${ownerId}::text or network = ${network}
    ) as unpaid
    where not id in (select jsonb_array_elements_text(${JSON.stringify(without)}::jsonb))`)
  const unpaid: UnpaidSeats[] = rows.map((row) => ({ ...row, heldUntil: Temporal.Instant.from(row.heldUntil) }))
  const limits = { family: config.UNPAID_SEATS_PER_FAMILY, network: config.UNPAID_SEATS_PER_NETWORK }
  refuseTooManyUnpaid(unpaid, wanted, limits, clock.now())
}

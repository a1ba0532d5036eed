import { maxCredits } from '@robokids/contracts/member-classes'
import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

/** Each booked class has its credit, and no membership has more unused ones than allowed. True at any time. */
export async function creditsAddUp(walk: Walk): Promise<void> {
  const sql = walk.world.system.sql('enrollment')
  const rows = await sql<{ id: string; unused: number; paying: number; booked: number }[]>`
    select m.attempt_id as id,
      (select count(*)::int from member_credits c
        where c.membership_id = m.attempt_id and c.status = 'unused' and c.withdrawn is null) as unused,
      (select count(*)::int from member_credits c
        where c.membership_id = m.attempt_id and c.status = 'booked' and c.booking_id <> m.attempt_id) as paying,
      (select count(*)::int from member_bookings b
        where b.membership_id = m.attempt_id and b.status = 'booked') as booked
    from member_seats m`
  for (const { id, unused, paying, booked } of rows) {
    if (unused > maxCredits) throw new Violation('credits add up', `${id} has ${unused} unused credits`)
    if (paying !== booked)
      throw new Violation('credits add up', `${id} has ${booked} booked classes, for which ${paying} credits pay`)
  }
}

/** Enrollment knows each credit as billing gave it or took it back last. For a settled system. */
export async function creditsAgree(walk: Walk): Promise<void> {
  const given = await walk.world.system.sql('billing')<{ id: string; version: number; withdrawn: string | null }[]>`
    select id, version, withdrawn from membership_credits where given_at is not null`
  const known = await walk.world.system.sql('enrollment')<{ id: string; version: number; withdrawn: string | null }[]>`
    select id, version, withdrawn from member_credits`
  const text = (one: { id: string; version: number; withdrawn: string | null }) =>
    `${one.id} ${one.version} ${one.withdrawn ?? 'given'}`
  const there = new Set(known.map(text))
  for (const credit of given)
    if (!there.has(text(credit))) throw new Violation('credits agree', `enrollment does not know ${text(credit)}`)
}

import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

const idsOf = (walk: Walk) => walk.registrations.map(({ id }) => id)

interface Registration {
  id: string
  status: string
  seats: number
  seated: number
  here: number
  paid: number
  ofPlaces: number
  changed: number
}

/**
 * A paid registration's children are those of its seated places, one of them sits in its class, and what was paid for its places is
 * its payment with the differences of its moves, less what its changes give back. True at any time.
 */
export async function placesAddUp(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<Registration[]>`
    select r.id, r.status, r.seats, coalesce(r.paid_amount, 0) as paid,
      (select count(*)::int from places p where p.registration_id = r.id and p.status = 'seated') as seated,
      (select count(*)::int from places p where p.registration_id = r.id and p.status = 'seated'
        and p.class_session_id = r.class_session_id) as here,
      (select coalesce(sum(paid_amount), 0)::int from places p where p.registration_id = r.id) as "ofPlaces",
      (select coalesce(sum((quote ->> 'due')::int - (quote ->> 'back')::int), 0)::int from changes c
        where c.registration_id = r.id and c.status = 'done') as changed
    from registrations r where r.id = any(${idsOf(walk)}::uuid[])
      and (r.status in ('confirmed', 'waiver_signed') or exists (select from places p where p.registration_id = r.id))`
  for (const { id, status, seats, seated, here, paid, ofPlaces, changed } of rows) {
    const stands = status !== 'cancelled'
    if (stands ? seated !== seats || here === 0 : seated > 0)
      throw new Violation('seats add up', `${id} is ${status} for ${seats}; ${seated} are seated, ${here} in its class`)
    if (ofPlaces !== paid + changed)
      throw new Violation(
        'what was paid for each child adds up',
        `${id}: ${paid} was paid, and changes made it ${paid + changed}; its places say ${ofPlaces}`,
      )
  }
}

/** A child sits in a class once, by whatever registration of its family. True at any time. */
export async function childrenSitOnce(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<{ child: string; class: string; ids: string[] }[]>`
    select lower(p.child_name) || ' of ' || coalesce(r.owner_id::text, r.email_key) as child,
      s.class_type || ' ' || s.date as class, array_agg(r.id::text) as ids
    from places p join registrations r on r.id = p.registration_id join class_sessions s on s.id = p.class_session_id
    where r.id = any(${idsOf(walk)}::uuid[]) and p.status = 'seated' and r.status in ('confirmed', 'waiver_signed')
    group by 1, 2 having count(*) > 1`
  for (const { child, class: name, ids } of rows)
    throw new Violation(
      'nobody pays twice for one thing',
      `${child} has ${ids.length} seats in ${name}: ${ids.join(', ')}`,
    )
}

/** Every move ends: none is held past its time, and what is paid for one makes it or goes back. For a settled system. */
export async function movesEnd(walk: Walk): Promise<void> {
  const open = await walk.world.system.sql('enrollment')<{ id: string; status: string; paid: boolean }[]>`
    select id, status, payment_id is not null as paid from changes where registration_id = any(${idsOf(walk)}::uuid[])
      and ((status = 'held' and held_until <= now()) or (status = 'held') <> (held_until is not null))`
  for (const { id, status } of open) throw new Violation('every move ends', `${id} is ${status}`)
  const ids = walk.moves.map(({ id }) => id)
  const paid = await walk.world.system.sql('billing')<{ id: string }[]>`
    select registration_id as id from payments where outcome = 'accepted' and registration_id = any(${ids}::uuid[])`
  const ended = await walk.world.system.sql('enrollment')<{ id: string; status: string }[]>`
    select id, status from changes where id = any(${paid.map(({ id }) => id)}::uuid[])`
  for (const { id, status } of ended)
    if (status !== 'done' && status !== 'refused')
      throw new Violation('every move ends', `${id} is paid, and ${status}`)
}

/** What a change gives back is refunded to the cent, once; less only if nothing more is left of the payments. For a settled system. */
export async function changesAreRefunded(walk: Walk): Promise<void> {
  const changes = await walk.world.system.sql('enrollment')<
    { id: string; registrationId: string; back: number; paymentIds: string[] }[]
  >`
    select c.id, c.registration_id as "registrationId", (c.quote ->> 'back')::int as back,
      array(select payment_id::text from changes o where o.registration_id = c.registration_id and o.status = 'done'
        and payment_id is not null) || r.payment_id::text as "paymentIds"
    from changes c join registrations r on r.id = c.registration_id
    where c.registration_id = any(${idsOf(walk)}::uuid[]) and c.status = 'done'`
  const billing = walk.world.system.sql('billing')
  const refunds = await billing<{ id: string; amount: number }[]>`
    select change_id as id, sum(amount)::int as amount from refunds
    where change_id = any(${changes.map(({ id }) => id)}::uuid[]) group by change_id`
  const left = await billing<{ id: string; left: number }[]>`
    select p.id, p.amount - coalesce(sum(r.amount) filter (where r.status <> 'failed'), 0)::int as left
    from payments p left join refunds r on r.payment_id = p.id
    where p.id = any(${changes.flatMap(({ paymentIds }) => paymentIds)}::uuid[]) group by p.id`
  for (const { id, registrationId, back, paymentIds } of changes) {
    const made = refunds.find((one) => one.id === id)?.amount ?? 0
    const rest = left.filter((one) => paymentIds.includes(one.id)).reduce((sum, one) => sum + one.left, 0)
    if (made > back || (made < back && rest > 0))
      throw new Violation(
        'what a change gives back is refunded',
        `${id} of ${registrationId} gives ${back} back; ${made} is refunded, ${rest} is left`,
      )
  }
}

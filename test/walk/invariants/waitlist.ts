import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

interface Line {
  class: string
  left: number
  setAside: number
  families: number
  waiting: number
  smallest: number | null
  largest: number | null
}

/**
 * Nobody waits behind a free seat that it could have, seats are set aside only for a family that needs more, and the number of
 * waiting families is so. True at any time, since seats are offered in the transaction that frees them.
 */
export async function linesAreServed(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<Line[]>`
    select s.class_type || ' ' || s.date as class, s.capacity - s.held - s.sold - s.set_aside as left,
      s.set_aside as "setAside", s.families_waiting as families,
      count(e.id)::int as waiting, min(e.seats) as smallest, max(e.seats) as largest
    from class_sessions s left join waitlist_entries e on e.class_session_id = s.id and e.status = 'waiting'
    where s.date = any(${walk.dates as string[]}::date[]) group by s.id`
  for (const { class: name, left, setAside, families, waiting, smallest, largest } of rows) {
    if (families !== waiting)
      throw new Violation('the line is counted', `${name} counts ${families} families; ${waiting} wait`)
    if (smallest !== null && smallest <= left)
      throw new Violation('nobody waits behind a free seat', `${name} has ${left} seats, and one waits for ${smallest}`)
    if (left < 0 || (setAside > 0 && (largest ?? 0) <= setAside))
      throw new Violation(
        'seats are set aside for a family',
        `${name}: ${setAside} for at most ${largest}, ${left} left`,
      )
  }
}

/** Every offer ends: none is open past its time, and each entry that ended says when. For a settled system. */
export async function offersEnd(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<{ id: string; status: string }[]>`
    select e.id, e.status from waitlist_entries e join class_sessions s on s.id = e.class_session_id
    where s.date = any(${walk.dates as string[]}::date[])
      and ((e.status = 'offered' and e.offer_ends_at <= now())
        or (e.status not in ('waiting', 'offered')) <> (e.ended_at is not null)
        or (e.status = 'accepted') <> (e.registration_id is not null))`
  for (const { id, status } of rows) throw new Violation('every offer ends', `${id} is ${status}`)
}

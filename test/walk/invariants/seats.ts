import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'

interface Count {
  class: string
  capacity: number
  held: number
  sold: number
  holds: number
  sales: number
}

/** Seats are held or sold, never more than there are, and as many as registrations and members have. True at any time. */
export async function seatsAddUp(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<Count[]>`
    select s.class_type || ' ' || s.date as class, s.capacity, s.held, s.sold,
      (select coalesce(sum(seats), 0)::int from registrations r where r.class_session_id = s.id and r.status = 'held')
      + (select count(*)::int from (
          select email_key from member_holds h where h.class_session_id = s.id
          union select email_key from pending_member_holds p where p.class_session_id = s.id) as members) as holds,
      (select coalesce(sum(seats), 0)::int from registrations r
        where r.class_session_id = s.id and r.status in ('confirmed', 'waiver_signed'))
      + (select count(*)::int from member_seats m where m.class_session_id = s.id and m.outcome = 'seated') as sales
    from class_sessions s where s.date = any(${walk.dates as string[]}::date[])`
  for (const { class: name, capacity, held, sold, holds, sales } of rows) {
    if (held + sold > capacity) throw new Violation('seats add up', `${name}: ${held} + ${sold} of ${capacity}`)
    if (held !== holds || sold !== sales)
      throw new Violation('seats add up', `${name} counts ${held} held, ${sold} sold; there are ${holds} and ${sales}`)
  }
}

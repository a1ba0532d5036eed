import { Violation } from '../violation.ts'
import type { Walk } from '../walk.ts'
import { unpaidLimits } from '../world.ts'

interface Count {
  class: string
  capacity: number
  held: number
  sold: number
  holds: number
  sales: number
}

/** Held and sold seats never exceed the capacity, and match registrations and members. True at any time. */
export async function seatsAddUp(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<Count[]>`
    select s.class_type || ' ' || s.date as class, s.capacity, s.held, s.sold,
      (select coalesce(sum(seats), 0)::int from registrations r where r.class_session_id = s.id and r.status = 'held')
      + (select coalesce(sum(seats), 0)::int from waitlist_entries e where e.class_session_id = s.id and e.status = 'offered')
      + (select coalesce(sum(seats), 0)::int from changes c where c.to_class_session_id = s.id and c.status = 'held')
      + (select count(*)::int from (
          select email_key from member_holds h where h.class_session_id = s.id
          union select email_key from pending_member_holds p where p.class_session_id = s.id) as members) as holds,
      (select count(*)::int from places p join registrations r on r.id = p.registration_id
        where p.class_session_id = s.id and p.status = 'seated' and r.status in ('confirmed', 'waiver_signed'))
      + (select count(*)::int from member_seats m where m.class_session_id = s.id and m.outcome = 'seated')
      + (select count(*)::int from member_bookings b where b.class_session_id = s.id and b.status = 'booked') as sales
    from class_sessions s where s.date = any(${walk.dates as string[]}::date[])`
  for (const { class: name, capacity, held, sold, holds, sales } of rows) {
    if (held + sold > capacity) throw new Violation('seats add up', `${name}: ${held} + ${sold} of ${capacity}`)
    if (held !== holds || sold !== sales)
      throw new Violation('seats add up', `${name} counts ${held} held, ${sold} sold; there are ${holds} and ${sales}`)
  }
}

/** No network has more unpaid seats than allowed, apart from holds that others replace. True at any time. */
export async function unpaidSeatsAreFew(walk: Walk): Promise<void> {
  const rows = await walk.world.system.sql('enrollment')<{ network: string; seats: number }[]>`
    with held as (
      select r.network, r.seats from registrations r
      where r.status = 'held' and not exists (select from registrations o where o.replaces = r.id and o.status = 'held')
      union all select network, 1 from member_holds
      union all select network, 1 from pending_member_holds
    )
    select network, sum(seats)::int as seats from held where network is not null group by network`
  for (const { network, seats } of rows)
    if (seats > unpaidLimits.network)
      throw new Violation('unpaid seats are few', `${seats} of ${network} wait for their payment`)
}

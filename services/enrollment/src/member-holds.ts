/** What somebody holds of the members' sessions, and what becomes of it. Times are on enrollment's clock. */

interface HeldSeat {
  classSessionId: string
  heldUntil: Temporal.Instant
  /** Where it was asked for first; null where that was not told. */
  network: string | null
}

/** Who asks for a seat, and which. */
type AskedSeat = Pick<HeldSeat, 'classSessionId' | 'network'>

export interface MemberHolds {
  hold:
    | (HeldSeat & {
        /** The checkout that it is held for; null until there is one. */
        attemptId: string | null
        /** How many of their requests for a checkout are under way; they count until `awaitedUntil` at the latest. */
        awaited: number
        awaitedUntil: Temporal.Instant | null
      })
    | null
  /** A seat of another date, which takes the place of the held one when its checkout is there. */
  pending: HeldSeat | null
}

const nothing: MemberHolds = { hold: null, pending: null }

/** Far longer than a request for a checkout takes. */
const requestLifetime = Temporal.Duration.from({ minutes: 5 })

function isOver(until: Temporal.Instant, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(until, now) <= 0
}

function underWay({ hold }: MemberHolds, now: Temporal.Instant): number {
  return hold?.awaitedUntil && !isOver(hold.awaitedUntil, now) ? hold.awaited : 0
}

/** The sessions that they have a seat in. */
export function seatsOf({ hold, pending }: MemberHolds): Set<string> {
  return new Set([hold, pending].flatMap((seat) => (seat ? [seat.classSessionId] : [])))
}

/** The held seat is gone: the pending one takes its place. */
function withoutHold({ hold, pending }: MemberHolds): MemberHolds {
  return hold && pending ? { hold: { ...hold, ...pending, attemptId: null }, pending: null } : nothing
}

/**
 * A checkout is asked for. What is held for one that can still be paid stays held until `endCheckout` or `bindSeat` says
 * that it cannot be paid any more.
 */
export function askForSeat(
  holds: MemberHolds,
  { classSessionId, network }: AskedSeat,
  now: Temporal.Instant,
): MemberHolds {
  const { hold, pending } = holds
  const awaitedUntil = now.add(requestLifetime)
  const asked = { awaited: underWay(holds, now) + 1, awaitedUntil }
  const seat = { classSessionId, heldUntil: awaitedUntil, network }
  if (!hold || hold.attemptId === null) {
    return { hold: { ...seat, network: hold ? hold.network : network, attemptId: null, ...asked }, pending: null }
  }
  const heldUntil = isOver(hold.heldUntil, awaitedUntil) ? awaitedUntil : hold.heldUntil
  return {
    hold: { ...hold, heldUntil, ...asked },
    pending: hold.classSessionId === classSessionId ? null : { ...seat, network: pending ? pending.network : network },
  }
}

/** The checkout that was asked for is there, and is their only one. */
export function bindSeat(
  holds: MemberHolds,
  seat: HeldSeat & { attemptId: string },
  now: Temporal.Instant,
): MemberHolds {
  const { hold, pending } = holds
  const awaited = Math.max(0, underWay(holds, now) - 1)
  const held = [hold, pending].find((one) => one?.classSessionId === seat.classSessionId)
  // The same checkout, asked for once more: its page may be open.
  const isSame = hold?.attemptId === seat.attemptId && hold.classSessionId === seat.classSessionId
  const heldUntil = isSame && isOver(seat.heldUntil, hold.heldUntil) ? hold.heldUntil : seat.heldUntil
  const network = held ? held.network : seat.network
  return { hold: { awaitedUntil: hold?.awaitedUntil ?? null, ...seat, heldUntil, network, awaited }, pending: null }
}

/** The payment page of the checkout is opened: its seat is kept until then at least. */
export function keepSeat(holds: MemberHolds, attemptId: string, until: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  if (hold?.attemptId !== attemptId) return holds
  return { hold: { ...hold, heldUntil: isOver(until, hold.heldUntil) ? hold.heldUntil : until }, pending }
}

/** No checkout came of a request: what is held for none is let go, unless another request is under way. */
export function endRequest(holds: MemberHolds, now: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  const awaited = Math.max(0, underWay(holds, now) - 1)
  if (hold && awaited > 0) return { hold: { ...hold, awaited }, pending }
  return { hold: hold && hold.attemptId !== null ? { ...hold, awaited } : null, pending: null }
}

/**
 * A checkout ended unpaid, and its hold with it; but another request of theirs that is under way keeps the seat: it
 * may be what the checkout was closed for. The end of another checkout than the one that is held for changes nothing.
 */
export function endCheckout(holds: MemberHolds, attemptId: string, now: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  if (!hold || hold.attemptId !== attemptId) return holds
  if (!pending && hold.awaitedUntil && underWay(holds, now) > 0) {
    return { hold: { ...hold, attemptId: null, heldUntil: hold.awaitedUntil }, pending }
  }
  return withoutHold(holds)
}

/** The seat of this session was paid: it is held no longer. */
export function takeSeat(holds: MemberHolds, classSessionId: string): MemberHolds {
  if (holds.hold?.classSessionId === classSessionId) return withoutHold(holds)
  return holds.pending?.classSessionId === classSessionId ? { ...holds, pending: null } : holds
}

/** Lets go what has run out. */
export function endOverdue({ hold, pending }: MemberHolds, now: Temporal.Instant): MemberHolds {
  const rest = { hold, pending: pending && isOver(pending.heldUntil, now) ? null : pending }
  return hold && isOver(hold.heldUntil, now) ? withoutHold(rest) : rest
}

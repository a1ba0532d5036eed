/** The rules for the seats that one holder holds in members' sessions. Times are on enrollment's clock. */

interface HeldSeat {
  classSessionId: string
  heldUntil: Temporal.Instant
  /** The network that first requested it; null if not sent. */
  network: string | null
}

type RequestedSeat = Pick<HeldSeat, 'classSessionId' | 'network'>

export interface MemberHolds {
  hold:
    | (HeldSeat & {
        /** The checkout that the seat is held for; null until it exists. */
        attemptId: string | null
        /** The number of the holder's checkout requests in flight; ignored after `awaitedUntil`. */
        awaited: number
        awaitedUntil: Temporal.Instant | null
      })
    | null
  /** A seat on another date, which replaces the held one once its own checkout exists. */
  pending: HeldSeat | null
}

const nothing: MemberHolds = { hold: null, pending: null }

/** Far longer than a request for a checkout takes. */
const requestLifetime = Temporal.Duration.from({ minutes: 5 })

function isOver(until: Temporal.Instant, now: Temporal.Instant): boolean {
  return Temporal.Instant.compare(until, now) <= 0
}

function inFlight({ hold }: MemberHolds, now: Temporal.Instant): number {
  return hold?.awaitedUntil && !isOver(hold.awaitedUntil, now) ? hold.awaited : 0
}

/** The sessions in which seats are held. */
export function sessionIdsOf({ hold, pending }: MemberHolds): Set<string> {
  return new Set([hold, pending].flatMap((seat) => (seat ? [seat.classSessionId] : [])))
}

/** Removes the held seat; the pending one takes its place. */
function withoutHold({ hold, pending }: MemberHolds): MemberHolds {
  return hold && pending ? { hold: { ...hold, ...pending, attemptId: null }, pending: null } : nothing
}

/**
 * Applied when a checkout is requested. The seat of a checkout that can still be paid stays held until `endCheckout` or
 * `bindSeat`.
 */
export function requestSeat(
  holds: MemberHolds,
  { classSessionId, network }: RequestedSeat,
  now: Temporal.Instant,
): MemberHolds {
  const { hold, pending } = holds
  const awaitedUntil = now.add(requestLifetime)
  const requests = { awaited: inFlight(holds, now) + 1, awaitedUntil }
  const seat = { classSessionId, heldUntil: awaitedUntil, network }
  if (!hold || hold.attemptId === null) {
    return { hold: { ...seat, network: hold ? hold.network : network, attemptId: null, ...requests }, pending: null }
  }
  const heldUntil = isOver(hold.heldUntil, awaitedUntil) ? awaitedUntil : hold.heldUntil
  return {
    hold: { ...hold, heldUntil, ...requests },
    pending: hold.classSessionId === classSessionId ? null : { ...seat, network: pending ? pending.network : network },
  }
}

/** Applied when the requested checkout exists, which is then the holder's only one. */
export function bindSeat(
  holds: MemberHolds,
  seat: HeldSeat & { attemptId: string },
  now: Temporal.Instant,
): MemberHolds {
  const { hold, pending } = holds
  const awaited = Math.max(0, inFlight(holds, now) - 1)
  const held = [hold, pending].find((one) => one?.classSessionId === seat.classSessionId)
  // If the same checkout was requested again, its page may be open.
  const isSame = hold?.attemptId === seat.attemptId && hold.classSessionId === seat.classSessionId
  const heldUntil = isSame && isOver(seat.heldUntil, hold.heldUntil) ? hold.heldUntil : seat.heldUntil
  const network = held ? held.network : seat.network
  return { hold: { awaitedUntil: hold?.awaitedUntil ?? null, ...seat, heldUntil, network, awaited }, pending: null }
}

/** Applied when the checkout's payment page is opened: holds its seat at least until the given time. */
export function extendSeat(holds: MemberHolds, attemptId: string, until: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  if (hold?.attemptId !== attemptId) return holds
  return { hold: { ...hold, heldUntil: isOver(until, hold.heldUntil) ? hold.heldUntil : until }, pending }
}

/** Applied when a request created no checkout: releases the seats without one, unless another request is in flight. */
export function endRequest(holds: MemberHolds, now: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  const awaited = Math.max(0, inFlight(holds, now) - 1)
  if (hold && awaited > 0) return { hold: { ...hold, awaited }, pending }
  return { hold: hold && hold.attemptId !== null ? { ...hold, awaited } : null, pending: null }
}

/**
 * Applied when a checkout ended unpaid: releases its seat, unless another request of the holder is in flight, which may be why
 * the checkout was closed. Ignores any checkout but the current one.
 */
export function endCheckout(holds: MemberHolds, attemptId: string, now: Temporal.Instant): MemberHolds {
  const { hold, pending } = holds
  if (!hold || hold.attemptId !== attemptId) return holds
  if (!pending && hold.awaitedUntil && inFlight(holds, now) > 0) {
    return { hold: { ...hold, attemptId: null, heldUntil: hold.awaitedUntil }, pending }
  }
  return withoutHold(holds)
}

/** Applied when the seat in this session was paid: it is no longer held. */
export function takeSeat(holds: MemberHolds, classSessionId: string): MemberHolds {
  if (holds.hold?.classSessionId === classSessionId) return withoutHold(holds)
  return holds.pending?.classSessionId === classSessionId ? { ...holds, pending: null } : holds
}

/** Releases expired seats. */
export function endExpired({ hold, pending }: MemberHolds, now: Temporal.Instant): MemberHolds {
  const rest = { hold, pending: pending && isOver(pending.heldUntil, now) ? null : pending }
  return hold && isOver(hold.heldUntil, now) ? withoutHold(rest) : rest
}

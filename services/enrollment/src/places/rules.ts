import type { Child, RegistrationStatus } from '@robokids/contracts/enrollment'
import type { SeatChange } from '../rules.ts'

export const placeStatuses = ['seated', 'cancelled'] as const
export type PlaceStatus = (typeof placeStatuses)[number]

/** What a place has to do with money, in cents. */
export interface PlacePrice {
  paidAmount: number
  listAmount: number | null
}

/** The price of a registration as billing quoted it; absent from the events of a billing of the previous version. */
export interface QuotedPrice {
  unitAmount: number
  paidSeats: number
}

/**
 * Divides what was paid for a registration among its children, to the cent. Where billing has said what a seat costs, the first
 * children have paid for theirs and the others, who joined free by a promotion, have paid nothing. Otherwise it is divided evenly.
 */
export function dividePayment(amount: number, children: number, quoted?: QuotedPrice): PlacePrice[] {
  const positions = Array.from({ length: children }, (_, position) => position)
  if (quoted && quoted.unitAmount * quoted.paidSeats === amount && quoted.paidSeats <= children) {
    const { unitAmount, paidSeats } = quoted
    return positions.map((position) => ({
      paidAmount: position < paidSeats ? unitAmount : 0,
      listAmount: unitAmount,
    }))
  }
  const share = Math.floor(amount / children)
  const rest = amount - share * children
  return positions.map((position) => ({
    paidAmount: position < rest ? share + 1 : share,
    listAmount: children === 1 ? amount : null,
  }))
}

/** A place as far as seats are concerned. */
export interface Seated {
  classSessionId: string
  status: PlaceStatus
}

/** Whether a registration of this status has places that are seated. */
export function hasPlaces(status: RegistrationStatus): boolean {
  return status === 'confirmed' || status === 'waiver_signed'
}

/** The seats that these places give up where they are now, by class session. */
export function seatsToFree(places: Seated[]): Map<string, SeatChange> {
  const freed = new Map<string, SeatChange>()
  for (const { classSessionId, status } of places) {
    if (status !== 'seated') continue
    const before = freed.get(classSessionId)?.sold ?? 0
    freed.set(classSessionId, { held: 0, sold: before - 1 })
  }
  return freed
}

/** Adds up changes of several sessions. */
export function sumSeats(...all: Map<string, SeatChange>[]): Map<string, SeatChange> {
  const sum = new Map<string, SeatChange>()
  for (const [id, { held, sold }] of all.flatMap((one) => [...one])) {
    const before = sum.get(id) ?? { held: 0, sold: 0 }
    sum.set(id, { held: before.held + held, sold: before.sold + sold })
  }
  return sum
}

/** The children of the seated places, by position. */
export function childrenOfPlaces(places: (Pick<Seated, 'status'> & Child & { position: number })[]): Child[] {
  return places
    .filter(({ status }) => status === 'seated')
    .toSorted((a, b) => a.position - b.position)
    .map(({ childName, childAge }) => ({ childName, childAge }))
}

import { createHash } from 'node:crypto'
import type { HoldSeats, RegistrationCheck, RegistrationFacts } from '@robokids/contracts/enrollment'
import type { Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { and, eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { lockFamilies } from './lock-registration.ts'
import { familyOf, findStanding, known } from './lock-family.ts'
import type { RegistrationRow } from './read-registrations.ts'
import {
  classFull,
  classNotOffered,
  conflicts,
  findSame,
  isOffered,
  mayReplace,
  refuseOneChildTwice,
  refuseSecondSeat,
  seatsLeft,
  type Asker,
} from './rules.ts'
import { classSessions, registrations } from './schema.ts'
import { lockUnpaid, refuseTooMany } from './unpaid-seats.ts'

/** What a registration says, apart from how and by whom it is asked for. */
export type Content = Omit<HoldSeats, 'replaces' | 'unlessRegistered' | 'familyTimeZone' | 'network' | keyof Asker>

/** What a request says, and who asks it and how. */
export function partsOf({
  replaces,
  unlessRegistered = false,
  ownerId = null,
  browserId = null,
  network,
  familyTimeZone,
  ...content
}: HoldSeats) {
  return {
    content,
    asker: { ownerId, browserId },
    network,
    replaces,
    unlessRegistered,
    familyTimeZone: familyTimeZone ?? null,
  }
}

/** Parsing has put the fields into one order and filled in what was left out. */
export function contentHash(content: Content): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex')
}

export function childrenOf({ childName, childAge, siblings }: Content): RegistrationFacts['children'] {
  return [{ childName, childAge }, ...siblings]
}

export function addressOf({ addressLine1, addressLine2, city, state, zipCode }: Content): RegistrationFacts['address'] {
  return { addressLine1, addressLine2, city, state, zipCode }
}

export function classSessionOf({ classType, startDate }: Pick<Content, 'classType' | 'startDate'>) {
  return and(eq(classSessions.classType, classType), eq(classSessions.date, startDate))
}

export interface Judgement {
  /** The registration that is to be answered instead of a new one. */
  standing: string | undefined
  /** The unpaid one that gives way to the new one. */
  replaced: RegistrationRow | undefined
  /** What others have of the same seats, of which whoever asks is told nothing. */
  hidden: RegistrationRow[]
}

/**
 * Says whether a registration may be paid beside all that its family has, and keeps others of the family waiting until it
 * is decided. Holds nothing.
 * @throws DomainError `already_paid`, `already_registered`
 */
export async function judgeRegistration(
  tx: Transaction,
  request: HoldSeats,
  now: Temporal.Instant,
): Promise<Judgement> {
  const { content, asker, replaces, unlessRegistered } = partsOf(request)
  const family = await familyOf(tx, { email: content.email, ownerId: asker.ownerId })
  const findReplaced = async () => {
    if (replaces === undefined || replaces === content.id) return undefined
    const [found] = await tx.select().from(registrations).where(eq(registrations.id, replaces))
    return found && mayReplace(asker, found) ? found : undefined
  }
  const before = await findReplaced()
  await lockFamilies(tx, before ? [family, await familyOf(tx, before)] : [family])
  const replaced = await findReplaced()

  const others = (await findStanding(tx, family, content)).filter(
    (row) => row.id !== content.id && (row.id !== replaced?.id || row.status !== 'held'),
  )
  const { standing, hidden } = known(asker, others)
  const asked = { ...content, children: childrenOf(content), address: addressOf(content), separate: false }
  if (unlessRegistered) {
    const same = findSame(standing, asked)
    if (same) return { standing: same.registrationId, replaced: undefined, hidden: [] }
  }
  if (replaced?.status === 'confirmed' || replaced?.status === 'waiver_signed') {
    const message = 'The registration that you change is paid already. Its confirmation is in your email.'
    throw new DomainError('already_paid', message, undefined, { reference: replaced.id })
  }
  if (unlessRegistered) refuseSecondSeat(standing, asked, now)
  return {
    standing: undefined,
    replaced: replaced?.status === 'held' ? replaced : undefined,
    hidden: unlessRegistered ? conflicts(hidden, asked) : [],
  }
}

/**
 * Refuses what holding would refuse, and holds nothing: it is asked before the payment page of a replaced registration is
 * closed, so that nothing is closed for a change that cannot be made.
 * @throws DomainError `already_paid`, `already_registered`, `id_reused`, `class_not_offered`, `class_full`, `too_many_unpaid`
 */
export async function judgeOnly(request: HoldSeats, context: Context<Config>): Promise<RegistrationCheck> {
  const { content, asker, network } = partsOf(request)
  const applicant = { ...asker, network }
  const now = context.clock.now()
  refuseOneChildTwice(childrenOf(content))
  return context.db.transaction(async (tx) => {
    await lockUnpaid(tx, applicant)
    const { standing, replaced } = await judgeRegistration(tx, request, now)
    if (standing !== undefined) return { registrationId: standing }
    const [made] = await tx.select().from(registrations).where(eq(registrations.id, content.id))
    if (made) {
      if (made.contentHash !== contentHash(content)) throw idReused()
      return { registrationId: made.id, replaces: replaced?.id ?? null }
    }
    await refuseTooMany(tx, applicant, childrenOf(content).length, context, replaced ? [replaced.id] : [])
    const [classSession] = await tx.select().from(classSessions).where(classSessionOf(content))
    if (!classSession || !isOffered(classSession, now)) throw classNotOffered()
    const freed = replaced?.classSessionId === classSession.id ? replaced.seats : 0
    if (seatsLeft({ ...classSession, held: classSession.held - freed }) < childrenOf(content).length) throw classFull()
    return { registrationId: null, replaces: replaced?.id ?? null }
  })
}

export function idReused(): DomainError {
  return new DomainError('id_reused', 'This id belongs to another registration.')
}

import { local, type SafeStorage, session } from '../browser/storage.ts'
import { draftOf, signUpDraftKey } from '../browser/stored-data.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import type { RegistrationContent } from './registration-content.ts'
import { emptyValues, type SignUpValues } from './sign-up-values.ts'

const sentKey = 'roboKidsSignUpSent'
/** Enough for a family that goes back and forth between levels and dates. */
const sentKept = 8

interface Sent {
  id: string
  content: Partial<Record<string, unknown>>
  /** The server confirmed that it holds no seats under this id. */
  refused?: boolean
  /** It was replaced, and holds no seats any more. */
  replaced?: boolean
  /** Its payment was started. */
  beingPaid?: boolean
  /** The server confirmed that it holds seats. Without a response it may hold some or none. */
  held?: boolean
}

function readJson(key: string, storage: SafeStorage = session): unknown {
  try {
    return JSON.parse(storage.get(key) ?? 'null')
  } catch {
    return null
  }
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null

const typed = (value: unknown): string => (typeof value === 'string' ? value : '')

function readSent(): Sent[] {
  const sent = readJson(sentKey)
  if (!Array.isArray(sent)) return []
  return sent.filter(
    (entry): entry is Sent => isObject(entry) && typeof entry['id'] === 'string' && isObject(entry['content']),
  )
}

const saveSent = (sent: Sent[]) => session.set(sentKey, JSON.stringify(sent.slice(0, sentKept)))

const mark = (id: string, marks: Partial<Sent>) =>
  saveSent(readSent().map((entry) => (entry.id === id ? { ...entry, ...marks } : entry)))

/** The draft of this tab, by a guest or by this account, or else the account's from any tab. */
function findDraft(userId: string | null): unknown {
  const ofTab = readJson(signUpDraftKey)
  if (isObject(ofTab) && (ofTab['of'] === undefined || ofTab['of'] === userId)) return ofTab
  return userId === null ? null : readJson(draftOf(userId), local)
}

/**
 * The sign-up form's draft, which survives a reload and a visit to another level.
 * @param userId the signed-in user, whose draft outlives its tab and is shown to nobody else
 */
export function readDraft(userId: string | null): SignUpValues {
  const draft = findDraft(userId)
  if (!isObject(draft)) return emptyValues
  const children = Array.isArray(draft['children']) ? draft['children'].filter(isObject) : []
  const lines = Object.keys(emptyValues).map((name) => [name, typed(draft[name])])
  return {
    ...(Object.fromEntries(lines) as Omit<SignUpValues, 'children'>),
    children:
      children.length === 0
        ? emptyValues.children
        : children.map((child) => ({ childName: typed(child['childName']), childAge: typed(child['childAge']) })),
  }
}

export function saveDraft(values: SignUpValues, userId: string | null): void {
  session.set(signUpDraftKey, JSON.stringify(userId === null ? values : { ...values, of: userId }))
  if (userId !== null) local.set(draftOf(userId), JSON.stringify(values))
}

/** Another account continues in this tab, where the draft is visible: it belongs to that account now. */
export function adoptTabDraft(userId: string): void {
  const draft = readJson(signUpDraftKey)
  if (isObject(draft) && draft['of'] !== undefined)
    session.set(signUpDraftKey, JSON.stringify({ ...draft, of: userId }))
}

/** After the form was sent, only its own tab may return to it. */
export function forgetStoredDraft(userId: string): void {
  local.remove(draftOf(userId))
}

export function forgetDraft(): void {
  const draft = readJson(signUpDraftKey)
  if (isObject(draft) && typeof draft['of'] === 'string') forgetStoredDraft(draft['of'])
  session.remove(signUpDraftKey)
  session.remove(sentKey)
}

/**
 * The idempotency key for this content: the one it was sent with before, or a new one. Stored before the first request, as its
 * response may be lost.
 */
export function idToSend(content: RegistrationContent): string {
  const sent = readSent()
  const text = JSON.stringify(content)
  const known = sent.find((entry) => JSON.stringify(entry.content) === text)
  if (known) return known.id
  const id = uuidV7()
  saveSent([{ id, content }, ...sent])
  return id
}

/** Whether an earlier request of this form may hold seats of this class and date. */
export function mayHoldSeats(classType: string, startDate: string): boolean {
  return readSent().some(
    ({ content, refused, replaced }) =>
      !refused && !replaced && content['classType'] === classType && content['startDate'] === startDate,
  )
}

/** Records that the server holds no seats under this id. */
export function recordRejection(id: string): void {
  mark(id, { refused: true })
}

/** An earlier registration of this form that may still hold seats, to be replaced by the one under `id`. */
export function idToReplace(id: string): string | undefined {
  return readSent().find((entry) => entry.id !== id && !entry.refused && !entry.replaced && !entry.beingPaid)?.id
}

/** Whether the server confirmed that it holds seats under this id. */
export function isKnownToBeHeld(id: string): boolean {
  return readSent().some((entry) => entry.id === id && entry.held === true)
}

/**
 * Records that the server holds seats for the request `id`, as the registration that it returned, which may be an existing
 * one from another tab. The replaced one holds none any more.
 */
export function recordHold(id: string, registrationId: string, replaced: string | undefined): void {
  if (replaced !== undefined) mark(replaced, { replaced: true })
  const sent = readSent()
  const entry = sent.find((one) => one.id === id)
  if (!entry) return
  const held = { id: registrationId, content: entry.content, held: true }
  saveSent([held, ...sent.filter((one) => one.id !== id && one.id !== registrationId)])
}

/** Records that it is being paid: it keeps its seats when another registration is made. */
export function recordPaymentStarted(registrationId: string): void {
  mark(registrationId, { beingPaid: true })
}

/** The content is sent with a new id from now on. */
export function forgetSent(id: string): void {
  saveSent(readSent().filter((entry) => entry.id !== id))
}

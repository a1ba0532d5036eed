import { local, type SafeStorage, session } from '../browser/storage.ts'
import { draftOf, signUpDraftKey } from '../browser/stored-data.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import type { RegistrationContent } from './registration-content.ts'
import { emptyValues, type SignUpValues } from './sign-up-values.ts'

const sentKey = 'roboKidsSignUpSent'
/** A family that goes back and forth between levels and dates; older ones are not met again. */
const sentKept = 8

interface Sent {
  id: string
  content: Partial<Record<string, unknown>>
  /** The server answered that it holds nothing under this id. */
  refused?: boolean
  /** Another one has taken its place: it holds nothing any more. */
  replaced?: boolean
  /** The parent has been to pay for it. */
  beingPaid?: boolean
  /** The server answered that it holds seats for it. Where it did not answer, it may hold some or none. */
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

/** What was typed in this tab, by a guest or by this account, or else in any tab by this account. */
function findDraft(userId: string | null): unknown {
  const ofTab = readJson(signUpDraftKey)
  if (isObject(ofTab) && (ofTab['of'] === undefined || ofTab['of'] === userId)) return ofTab
  return userId === null ? null : readJson(draftOf(userId), local)
}

/**
 * What was typed, so that a reload, a deployment or a look at another level costs nothing.
 * @param userId whoever is signed in: their draft outlives its tab, and nobody else is shown it.
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

/** Another account goes on in this tab, where one sees what was typed: it is theirs from now on. */
export function adoptTabDraft(userId: string): void {
  const draft = readJson(signUpDraftKey)
  if (isObject(draft) && draft['of'] !== undefined)
    session.set(signUpDraftKey, JSON.stringify({ ...draft, of: userId }))
}

/** The form went out: only its own tab may still come back to it. */
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
 * The id to send this content under: the one it was sent under before, so that the server takes a repetition for what it
 * is, or a new one. It is kept before the first send, because the answer may be lost.
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

/** Whether seats of this class and date may be held by this very form, sent before. */
export function mayHoldSeats(classType: string, startDate: string): boolean {
  return readSent().some(
    ({ content, refused, replaced }) =>
      !refused && !replaced && content['classType'] === classType && content['startDate'] === startDate,
  )
}

/** The server answered that it holds nothing under this id. */
export function noteRefused(id: string): void {
  mark(id, { refused: true })
}

/** The registration that this form was sent for before, if it may still hold seats: the one under `id` takes its place. */
export function idToReplace(id: string): string | undefined {
  return readSent().find((entry) => entry.id !== id && !entry.refused && !entry.replaced && !entry.beingPaid)?.id
}

/** Whether the server answered that it holds seats under this id. */
export function isKnownToBeHeld(id: string): boolean {
  return readSent().some((entry) => entry.id === id && entry.held === true)
}

/**
 * The server holds seats for what went out under `id`, as the registration that it answered: the very same may stand
 * already, from another tab. What it replaced holds none any more.
 */
export function noteHeld(id: string, registrationId: string, replaced: string | undefined): void {
  if (replaced !== undefined) mark(replaced, { replaced: true })
  const sent = readSent()
  const entry = sent.find((one) => one.id === id)
  if (!entry) return
  const held = { id: registrationId, content: entry.content, held: true }
  saveSent([held, ...sent.filter((one) => one.id !== id && one.id !== registrationId)])
}

/** The parent came back from paying for it: it keeps its seats, whatever is registered after it. */
export function noteBeingPaid(registrationId: string): void {
  mark(registrationId, { beingPaid: true })
}

/** After this the content goes out under a new id. */
export function forgetSent(id: string): void {
  saveSent(readSent().filter((entry) => entry.id !== id))
}

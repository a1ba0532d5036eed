import { z } from 'zod'
import { session } from '../storage.ts'
import { emptyValues, type RegistrationContent, type SignUpValues } from './sign-up-values.ts'
import { uuidV7 } from './uuid-v7.ts'

const draftKey = 'roboKidsSignUpDraft'
const sentKey = 'roboKidsSignUpSent'
/** A family that goes back and forth between levels and dates; older ones are not met again. */
const sentKept = 8

const draftSchema = z.object({
  guardianName: z.string(),
  email: z.string(),
  addressLine1: z.string(),
  addressLine2: z.string(),
  city: z.string(),
  state: z.string(),
  zipCode: z.string(),
  startDate: z.string(),
  children: z.array(z.object({ childName: z.string(), childAge: z.string() })).min(1),
})

const sentSchema = z.array(
  z.object({
    id: z.string(),
    content: z.record(z.string(), z.unknown()),
    refused: z.boolean().optional(),
  }),
)

function readJson<Schema extends z.ZodType>(key: string, schema: Schema): z.output<Schema> | undefined {
  try {
    return schema.safeParse(JSON.parse(session.get(key) ?? 'null')).data
  } catch {
    return undefined
  }
}

/** What was typed, so that a reload, a deployment or a look at another level costs nothing. */
export function readDraft(): SignUpValues {
  return readJson(draftKey, draftSchema) ?? emptyValues
}

export function saveDraft(values: SignUpValues): void {
  session.set(draftKey, JSON.stringify(values))
}

export function forgetDraft(): void {
  session.remove(draftKey)
  session.remove(sentKey)
}

/**
 * The id to send this content under: the one it was sent under before, so that the server takes a repetition for what it
 * is, or a new one. It is kept before the first send, because the answer may be lost.
 */
export function idToSend(content: RegistrationContent): string {
  const sent = readJson(sentKey, sentSchema) ?? []
  const text = JSON.stringify(content)
  const known = sent.find((entry) => JSON.stringify(entry.content) === text)
  if (known) return known.id
  const id = uuidV7()
  session.set(sentKey, JSON.stringify([{ id, content }, ...sent].slice(0, sentKept)))
  return id
}

/** Whether seats of this class and date may be held by this very form, sent before. */
export function mayHoldSeats(classType: string, startDate: string): boolean {
  const sent = readJson(sentKey, sentSchema) ?? []
  return sent.some(
    ({ content, refused }) => !refused && content['classType'] === classType && content['startDate'] === startDate,
  )
}

/** The server answered that it holds nothing under this id. */
export function noteRefused(id: string): void {
  const sent = readJson(sentKey, sentSchema) ?? []
  session.set(sentKey, JSON.stringify(sent.map((entry) => (entry.id === id ? { ...entry, refused: true } : entry))))
}

/** After this the content goes out under a new id. */
export function forgetSent(id: string): void {
  const sent = readJson(sentKey, sentSchema) ?? []
  session.set(sentKey, JSON.stringify(sent.filter((entry) => entry.id !== id)))
}

import { session } from '../browser/storage.ts'
import { messageKey } from '../browser/stored-data.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'

export const messageFields = ['name', 'email', 'topic', 'reference', 'message'] as const
export type MessageField = (typeof messageFields)[number]
/** The typed values; name and email default to the account's. */
export type MessageDraft = Partial<Record<MessageField, string>>

interface Kept {
  draft: MessageDraft
  /** The last message sent, with its id. */
  sent?: { id: string; content: string }
}

const isText = (value: unknown): value is string => typeof value === 'string'

function readKept(): Kept {
  try {
    const { draft, sent } = JSON.parse(session.get(messageKey) ?? '{}') as { draft?: MessageDraft; sent?: Kept['sent'] }
    const typed = messageFields.map((field) => [field, draft?.[field]] as const).filter(([, value]) => isText(value))
    const isSent = sent && isText(sent.id) && isText(sent.content)
    return { draft: Object.fromEntries(typed), ...(isSent ? { sent } : {}) }
  } catch {
    return { draft: {} }
  }
}

const keep = (changes: Partial<Kept>) => session.set(messageKey, JSON.stringify({ ...readKept(), ...changes }))

/** Stored, so that a message survives a reload and a server outage. */
export function readMessageDraft(): MessageDraft {
  return readKept().draft
}

export function saveMessageDraft(draft: MessageDraft): void {
  keep({ draft })
}

/**
 * The idempotency key for this message: the one it was sent with before, or a new one.
 * Stored before the first request, as its response may be lost.
 */
export function idOfMessage(content: object): string {
  const text = JSON.stringify(content)
  const { sent } = readKept()
  if (sent?.content === text) return sent.id
  const id = uuidV7()
  keep({ sent: { id, content: text } })
  return id
}

import { type ContactMessage, contactMessageSchema } from '@robokids/contracts/contact'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'
import type { MessageField } from './draft.ts'

const contentSchema = contactMessageSchema.omit({ id: true })

/** Checks a message as the server will, and makes of it what is sent. */
export function readMessage(
  values: Record<MessageField, string>,
): { content: Omit<ContactMessage, 'id'> } | { errors: FieldErrors } {
  const parsed = contentSchema.safeParse(values)
  return parsed.success ? { content: parsed.data } : { errors: errorsOfIssues(parsed.error.issues) }
}

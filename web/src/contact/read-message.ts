import { type ContactMessage, contactMessageSchema } from '@robokids/contracts/contact'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'
import type { MessageField } from './draft.ts'

const contentSchema = contactMessageSchema.omit({ id: true })

/** Validates a message as the server will, and returns the request body. */
export function readMessage(
  values: Record<MessageField, string>,
): { content: Omit<ContactMessage, 'id'> } | { errors: FieldErrors } {
  const parsed = contentSchema.safeParse(values)
  return parsed.success ? { content: parsed.data } : { errors: errorsOfIssues(parsed.error.issues) }
}

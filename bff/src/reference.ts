import type { ErrorCode } from '@robokids/contracts/errors'
import { uuid } from '@robokids/contracts/fields'
import { DomainError } from '@robokids/runtime/errors'
import { z } from 'zod'

/** What a visitor names a registration, an order or a payment by. */
export const referenceParams = z.object({ reference: z.string() })

/** The id in a reference. One that cannot be ours is as unknown as one that is not. @throws DomainError with `code` */
export function idOf(reference: string, code: ErrorCode, message: string): string {
  const read = uuid().safeParse(reference)
  if (read.success) return read.data
  throw new DomainError(code, message)
}

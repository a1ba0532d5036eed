import { addressSchema, type Address } from '@robokids/contracts/enrollment'
import { errorsOfIssues, type FieldErrors } from '../forms/field-errors.ts'

/** Validates the address as the server will. */
export function readAddress(values: Address): { address: Address } | { errors: FieldErrors } {
  const parsed = addressSchema.safeParse(values)
  return parsed.success ? { address: parsed.data } : { errors: errorsOfIssues(parsed.error.issues) }
}

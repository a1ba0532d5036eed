import type { ChildValues } from './sign-up-values.ts'

/** The name of a child's field in the request: the first child is flat, the others are `siblings`. */
export function childField(index: number, field: keyof ChildValues): string {
  return index === 0 ? field : `siblings.${index - 1}.${field}`
}

/** The form's fields from top to bottom. */
export function fieldsInOrder(children: number): string[] {
  return [
    'startDate',
    'guardianName',
    'email',
    'addressLine1',
    'addressLine2',
    'city',
    'state',
    'zipCode',
    ...Array.from({ length: children }, (_, index) => [
      childField(index, 'childName'),
      childField(index, 'childAge'),
    ]).flat(),
  ]
}

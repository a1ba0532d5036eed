import { formatClassDate } from './class-date.ts'
import { openingLevels } from './opening-levels.ts'

/** A fact of a registration as people read it: its name, and what it is in lines below each other. */
export type Detail = readonly [name: string, lines: readonly string[]]

/** A family's details, as far as they are known; what is not is an empty string. */
export interface KnownFamily {
  guardianName: string
  email: string
  children: readonly { childName: string; childAge: string | number }[]
  addressLine1: string
  addressLine2: string
  city: string
  state: string
  zipCode: string
}

const missing = (name: string) => `[Missing ${name}]`

/** Marks what a family wrote: where it is inside a line of ours it must not reorder that, and no translator may make other names of it. */
export type Mark = (theirs: string) => string

/** `Ivo, age 9` */
export function childLine({ childName, childAge }: KnownFamily['children'][number], position: string, mark: Mark) {
  const name = childName ? mark(childName) : missing(`${position} Name`)
  return childAge === '' ? name : `${name}, age ${childAge}`
}

function addressLines({ addressLine1, addressLine2, city, state, zipCode }: KnownFamily, mark: Mark): string[] {
  if (!addressLine1 && !city && !state && !zipCode) return ['[Missing Address]']
  const written = (text: string, name: string) => (text ? mark(text) : missing(name))
  return [
    written(addressLine1, 'Address Line 1'),
    ...(addressLine2 ? [mark(addressLine2)] : []),
    `${written(city, 'City')}, ${written(state, 'State')} ${written(zipCode, 'Zip Code')}`,
  ]
}

/** Who is registered by whom, and where the kit goes. */
export function familyDetails(family: KnownFamily, mark: Mark): Detail[] {
  const { guardianName, email, children } = family
  return [
    ['Guardian', [guardianName ? mark(guardianName) : missing('Guardian Name')]],
    [
      children.length === 1 ? 'Child' : 'Children',
      children.map((child, index) => childLine(child, index === 0 ? 'Child' : 'Sibling', mark)),
    ],
    ['Email', [email ? mark(email) : missing('Email')]],
    ['Shipping address', addressLines(family, mark)],
  ]
}

/** The day on which the class begins, which is the same day for every reader. */
export function startDay(startDate: string): string {
  return startDate ? formatClassDate(startDate) : missing('Start Date')
}

export function classDetail(classType: string): Detail {
  const level = Object.entries(openingLevels).find(([level]) => level === classType)?.[1]
  return ['Class type', [level?.title ?? (classType || missing('Class Type'))]]
}

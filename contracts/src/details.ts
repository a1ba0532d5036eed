import { formatClassDate } from './class-date.ts'
import { openingLevels } from './opening-levels.ts'

/** A labelled detail of a registration for display: its name and its lines of text. */
export type Detail = readonly [name: string, lines: readonly string[]]

/** The known details of a family; unknown ones are empty strings. */
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

/** Wraps text that a family entered, so that it cannot change the reading direction of the line and is not machine-translated. */
export type Mark = (theirs: string) => string

/** `Ivo, age 9` */
export function childLine({ childName, childAge }: KnownFamily['children'][number], position: string, mark: Mark) {
  const name = childName ? mark(childName) : missing(`${position} Name`)
  return childAge === '' ? name : `${name}, age ${childAge}`
}

function addressLines({ addressLine1, addressLine2, city, state, zipCode }: KnownFamily, mark: Mark): string[] {
  if (!addressLine1 && !city && !state && !zipCode) return ['[Missing Address]']
  const markOrMissing = (text: string, name: string) => (text ? mark(text) : missing(name))
  return [
    markOrMissing(addressLine1, 'Address Line 1'),
    ...(addressLine2 ? [mark(addressLine2)] : []),
    `${markOrMissing(city, 'City')}, ${markOrMissing(state, 'State')} ${markOrMissing(zipCode, 'Zip Code')}`,
  ]
}

/** Returns the guardian, the children and the shipping address. */
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

/** Returns the formatted start date, which is the same for readers in every time zone. */
export function startDay(startDate: string): string {
  return startDate ? formatClassDate(startDate) : missing('Start Date')
}

export function classDetail(classType: string): Detail {
  const level = Object.entries(openingLevels).find(([level]) => level === classType)?.[1]
  return ['Class type', [level?.title ?? (classType || missing('Class Type'))]]
}

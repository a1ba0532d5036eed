import { z } from 'zod'
import { timeZoneName } from './time-zone.ts'

export { emailKey, mailboxKey } from './email-key.ts'

const controlCharacters = /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/
/** Overrides and isolates can reverse the sentence around a name; ordinary right-to-left text does not need them. */
const directionControls = /[\u202a-\u202e\u2066-\u2069]/
/** An unpaired surrogate; browsers of 2022 have no `isWellFormed`. */
const halfCharacter = /\p{Surrogate}/u
/** Code points that will never be characters: fonts, PDFs and databases drop them. */
const noncharacters = /\p{Noncharacter_Code_Point}/u
/** Invisible characters: joiners, fillers, soft hyphens, and the blank Braille pattern. */
const invisible = /[\p{Default_Ignorable_Code_Point}\u2800]/gu
const visible = /[\p{L}\p{N}\p{P}\p{S}]/u

/**
 * Returns the schema of an id from a client: a UUID in either case, converted to lower case, so that both spellings are the
 * same record.
 */
export function uuid(error?: string) {
  return z.uuid(error === undefined ? {} : { error }).toLowerCase()
}

/** Returns the schema of a text on one line: trimmed, otherwise unchanged, at most `max` characters (code points). */
export function lineOfText(label: string, max: number) {
  return z
    .string({ error: `${label} is required.` })
    .transform((value) => value.trim())
    .superRefine((value, context) => {
      const refuse = (message: string) => context.addIssue({ code: 'custom', message, input: value })
      if (value.length > max * 2 || [...value].length > max) refuse(`${label} can have at most ${max} characters.`)
      else if (halfCharacter.test(value)) refuse(`${label} has a character that we cannot store.`)
      else if (controlCharacters.test(value)) refuse(`${label} must be on one line, without control characters.`)
      else if (directionControls.test(value)) refuse(`${label} has characters that change the text direction.`)
      else if (noncharacters.test(value)) refuse(`${label} has a character that we cannot store.`)
    })
}

/** Like `lineOfText`, with at least one visible character. */
export function requiredLine(label: string, max: number) {
  return lineOfText(label, max).refine((value) => visible.test(value.replaceAll(invisible, '')), {
    error: `${label} is required.`,
  })
}

/** Removed from texts of several lines: control characters, noncharacters and direction controls. */
const notInText = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]|\p{Noncharacter_Code_Point}/gu

/** Returns the schema of a text of several lines, which end in `\n`; at most `max` characters (code points). */
export function requiredText(label: string, max: number) {
  return z
    .string({ error: `${label} is required.` })
    .max(max * 3, { error: `${label} can have at most ${max} characters.` })
    .transform((value) =>
      value
        .replaceAll(/\r\n?|[\u2028\u2029]/g, '\n')
        .replaceAll(notInText, '')
        .trim(),
    )
    .refine((value) => !halfCharacter.test(value), { error: `${label} has a character that we cannot store.` })
    .refine((value) => [...value].length <= max, { error: `${label} can have at most ${max} characters.` })
    .refine((value) => visible.test(value.replaceAll(invisible, '')), { error: `${label} is required.` })
}

export const timeZone = z
  .string({ error: 'A time zone is a name.' })
  .regex(timeZoneName, { error: 'This is not the name of a time zone.' })

export const guardianName = requiredLine('Guardian name', 100)
export const childName = requiredLine("Child's first name", 100)
export const childAge = z
  .number({ error: "Child's age is required, as a number." })
  .int({ error: "Child's age must be a whole number." })
  .min(5, { error: 'A child must be at least 5 years old.' })
  // The form has no maximum, for older students; more than 99 is a typing error.
  .max(99, { error: "Please check the child's age." })

/**
 * An address that every mail server accepts unquoted (RFC 5321, 5322): words of letters, digits and symbols separated by
 * single dots, at most 64 characters before the @, and a domain of two or more labels.
 */
const emailAddress =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(\.[\w!#$%&'*+/=?^`{|}~-]+)*@([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])$/i

/** An address, trimmed; compare addresses by `emailKey`. */
export const email = requiredLine('Email', 254).pipe(
  z.email({ pattern: emailAddress, error: 'Enter an email address, like name@example.com.' }),
)

export const addressLine1 = requiredLine('Address line 1', 200)
export const addressLine2 = lineOfText('Address line 2', 200)
export const city = requiredLine('City', 100)
export const state = requiredLine('State', 100)
/** Five ASCII digits; a string, because `02139` is a zip code. */
export const zipCode = z
  .string({ error: 'Zip code must be exactly five digits.' })
  .transform((value) => value.trim())
  .pipe(z.string().regex(/^[0-9]{5}$/, { error: 'Zip code must be exactly five digits.' }))

/** A calendar day `YYYY-MM-DD`, without time or zone. */
export const plainDate = z.iso.date({ error: 'Choose a date.' })
/** A wall-clock time `HH:MM`, 24 hours. */
export const plainTime = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/)

/** A Unix time in seconds, up to the year 2100; any other integer is a mistake. */
export const unixSecond = z.int().min(0).max(4_102_444_800)

/** An amount in cents. */
export const moneySchema = z.object({ amount: z.int().min(0), currency: z.literal('usd') })
export type Money = z.infer<typeof moneySchema>

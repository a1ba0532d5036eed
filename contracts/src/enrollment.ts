import { z } from 'zod'
import { maxChildren } from './children.ts'
import { defineEvent } from './event.ts'
import * as field from './fields.ts'
import { membershipFactsSchema } from './membership.ts'
import { paymentStates } from './payment-state.ts'

/** What a class session is for: the four levels, and the members' session of each date. */
export const classTypes = ['basic', 'intermediate', 'advanced', 'custom', 'membership'] as const
export const classTypeSchema = z.enum(classTypes, { error: 'Choose a class.' })
export type ClassType = z.infer<typeof classTypeSchema>
/** The class types that the sign-up pages sell. */
export const levelClassTypes = ['basic', 'intermediate', 'advanced', 'custom'] as const
export const levelClassTypeSchema = z.enum(levelClassTypes, { error: 'Choose a class.' })
export type LevelClassType = z.infer<typeof levelClassTypeSchema>

export const levelIds = ['lvl1', 'lvl2', 'lvl3', 'lvlX'] as const

export { maxChildren }

export const registrationStatuses = ['held', 'confirmed', 'waiver_signed', 'rejected', 'expired', 'cancelled'] as const
export const registrationStatusSchema = z.enum(registrationStatuses)
export type RegistrationStatus = z.infer<typeof registrationStatusSchema>

export const childSchema = z.object({ childName: field.childName, childAge: field.childAge })
export type Child = z.infer<typeof childSchema>

export const addressSchema = z.object({
  addressLine1: field.addressLine1,
  addressLine2: field.addressLine2.default(''),
  city: field.city,
  state: field.state,
  zipCode: field.zipCode,
})
export type Address = z.infer<typeof addressSchema>

/** `POST /registrations`, and the body of the BFF's `POST /api/registrations` once it has an id. */
export const registrationRequestSchema = z.object({
  /** UUIDv7 made by the client: the idempotency key all the way down. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  guardianName: field.guardianName,
  email: field.email,
  ...childSchema.shape,
  /** Further children of the same family, each takes a seat; all or none. */
  siblings: z
    .array(childSchema, { error: 'Siblings must be a list.' })
    .max(maxChildren - 1, { error: `One registration can hold at most ${maxChildren} children.` })
    .default([]),
  ...addressSchema.shape,
  startDate: field.plainDate,
  classType: levelClassTypeSchema,
  /**
   * A registration that this one is sent instead of. Whoever it belongs to may say so: its account, or where none was signed
   * in, the browser that made it, with the same email; of anybody else it is read as if it were left out. Its seats are let
   * go where it is not paid: in the same transaction where they are of the same class and date, else once the new one has
   * its payment page. 409 `already_paid` where it is paid; one that is over, or not known, stays what it is.
   */
  replaces: field.uuid('replaces must be a UUID.').optional(),
  /**
   * Refuses with `already_registered` where one of these children has a seat of this class and date already under this
   * email, paid or held, and whoever asks may know of that: it was made by their account or in their browser. Where that
   * registration says the very same, it is answered instead. A stranger is led to pay as if there were none, and what is
   * paid a second time goes back. Our web asks for this; left out, every id is a registration of its own.
   */
  unlessRegistered: z.boolean({ error: 'unlessRegistered must be true or false.' }).optional(),
  /** The time zone in which the family reads its mails: its browser's, an IANA name. The first that is told is kept. */
  familyTimeZone: field.timeZone.optional(),
})
export type RegistrationRequest = z.infer<typeof registrationRequestSchema>

/** An account that something belongs to: the `sub` of its tokens. Never taken from a browser, which could name anybody. */
const ownerId = z.uuid().nullish()

/**
 * Who asks for something: the account that is signed in, and the browser, by the id that the BFF sealed into its cookie when
 * something was first bought there. Everybody else is a stranger, whatever address or reference they know. Neither is ever
 * taken from a request's body, nor told in an answer or an event. Absent from requests of a BFF of the version before.
 */
export const askerShape = { ownerId, browserId: z.uuid().nullish() }

/**
 * Where a visitor's request came from, as `blockOf` writes it: unpaid seats are limited by it. The BFF tells it from the
 * connection, never from a body. A BFF of the version before tells none: its seats are not limited, and held for as long as
 * their payment page is open from the start.
 */
export const visitorNetwork = z.string().min(1).max(60).optional()

/**
 * `POST /registrations`: the request, with who made it. `POST /registrations/judge`
 * takes the same and refuses what that would refuse, but holds nothing: it is asked before the checkout of the replaced
 * registration is closed.
 */
export const holdSeatsSchema = registrationRequestSchema.extend({ ...askerShape, network: visitorNetwork })
export type HoldSeats = z.infer<typeof holdSeatsSchema>

/** The answer to `POST /registrations/judge`. */
export const judgedRegistrationSchema = z.object({
  /** The registration that `POST /registrations` would answer without a new one. */
  registrationId: z.uuid().nullable(),
  /** The one that gives way to the new one: its payment page is to be closed first. Absent from answers of the time before. */
  replaces: z.uuid().nullish(),
})
export type JudgedRegistration = z.infer<typeof judgedRegistrationSchema>

/** The snapshot that events, checkouts and mails carry: true of a registration for its whole life, apart from `email` and `ownerId`, which go with its account. */
export const registrationFactsSchema = z.object({
  registrationId: z.uuid(),
  guardianName: z.string(),
  email: z.string(),
  children: z.array(z.object({ childName: z.string(), childAge: z.int() })).min(1),
  address: z.object({
    addressLine1: z.string(),
    addressLine2: z.string(),
    city: z.string(),
    state: z.string(),
    zipCode: z.string(),
  }),
  classSessionId: z.uuid(),
  classType: classTypeSchema,
  /** The level as parents know it: `Level 1 Foundations`. */
  levelTitle: z.string(),
  /** `YYYY-MM-DD` */
  startDate: z.string(),
  /** `HH:MM` on the wall clock of `timeZone`. */
  startTime: z.string(),
  durationMinutes: z.int(),
  /** IANA name. */
  timeZone: z.string(),
  /** As the request told it; null or absent where it told none. */
  familyTimeZone: z.string().nullish(),
  /** Absent from events of the time before registrations had an owner; null while no account has it. */
  ownerId,
})
export type RegistrationFacts = z.infer<typeof registrationFactsSchema>

/** `GET /registrations/:id`. */
export const registrationSchema = registrationFactsSchema.extend({
  status: registrationStatusSchema,
  /** When the seats are let go if nothing is paid; null once they are confirmed or gone. */
  heldUntil: z.iso.datetime().nullable(),
  /** Whether its payment page was opened, so that the seats are held for as long as that can be paid. Absent from answers of the time before. */
  pageOpened: z.boolean().optional(),
  /** Why a paid registration was turned away. */
  rejectionReason: z.enum(['class_full', 'class_started', 'registration_cancelled']).nullable(),
  payment: z
    .object({
      paymentId: z.uuid(),
      receiptNumber: z.string(),
      amount: z.int(),
      currency: z.literal('usd'),
      paidAt: z.iso.datetime(),
      /** Absent from answers of the time before. */
      state: z.enum(paymentStates).optional(),
    })
    .nullable(),
  waiver: z.object({ waiverId: z.uuid(), signedAt: z.iso.datetime(), documentSha256: z.string() }).nullable(),
  /** Null too while the registration, or its payment, is such that a kit that was ready must not be shipped. */
  kit: z.object({ status: z.enum(['ready', 'shipped']) }).nullable(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Registration = z.infer<typeof registrationSchema>

/** The answer to `POST /registrations`. */
export const heldRegistrationSchema = registrationSchema.extend({
  /** Whether this request has made it; not so where it was there already. Absent from answers of the version before. */
  isNew: z.boolean().optional(),
})
export type HeldRegistration = z.infer<typeof heldRegistrationSchema>

/** The place of a registration in the list: when it was made, and its id. */
export const registrationCursorSchema = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z_[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/, {
    error: 'cursor must be the nextCursor of a page.',
  })
  .refine((cursor) => z.iso.datetime().safeParse(cursor.slice(0, 24)).success, {
    error: 'cursor must be the nextCursor of a page.',
  })

/** `GET /registrations?email=&ownerId=&status=&cursor=&limit=`: newest first, by when the server took them. */
export const registrationQuerySchema = z.object({
  email: z.string().max(254).optional(),
  ownerId: field.uuid('ownerId must be a UUID.').optional(),
  status: registrationStatusSchema.optional(),
  /** `nextCursor` of the page before. */
  cursor: registrationCursorSchema.optional(),
  limit: z.coerce.number().int().min(1).max(500).default(100),
})
export const registrationPageSchema = z.object({
  registrations: z.array(registrationSchema),
  nextCursor: registrationCursorSchema.nullable(),
})
export type RegistrationPage = z.infer<typeof registrationPageSchema>

export const classSessionSchema = z.object({
  classSessionId: z.uuid(),
  /** `YYYY-MM-DD` */
  date: z.string(),
  /** `HH:MM` */
  startTime: z.string(),
  durationMinutes: z.int(),
  timeZone: z.string(),
  capacity: z.int(),
  /** Never negative, whatever the capacity was lowered to. */
  seatsLeft: z.int().min(0),
})
export type ClassSession = z.infer<typeof classSessionSchema>

export const levelSchema = z.object({
  levelId: z.enum(levelIds),
  classType: levelClassTypeSchema,
  /** `Level 1 Foundations` */
  title: z.string(),
  description: z.string(),
  recommendedAges: z.object({ from: z.int(), to: z.int() }),
  /** `6 weeks`, `6 to 8 weeks` */
  programLength: z.string(),
  /** Only those on sale: open and in the future. */
  sessions: z.array(classSessionSchema),
})
export type Level = z.infer<typeof levelSchema>

/** `GET /classes` */
export const classesSchema = z.object({ levels: z.array(levelSchema) })

/** `GET /available-slots?classType=`, and the specified `GET /api/availableSlots`. */
export const availableSlotsQuerySchema = z.object({ classType: classTypeSchema.default('membership') })
export const availableSlotsSchema = z.object({
  slots: z.array(
    z.object({
      classDate: z.string(),
      availableSlots: z.int().min(0),
      /** `HH:MM` at the school. A service of the version before does not tell it. */
      startTime: z.string().optional(),
    }),
  ),
})
export type AvailableSlots = z.infer<typeof availableSlotsSchema>

/** `GET /unpaid-seats`: of each session on sale, how many seats wait for their payment, and how many are free. */
export const unpaidSeatsSchema = z.object({
  sessions: z.array(z.object({ classType: classTypeSchema, held: z.int().min(0), left: z.int().min(0) })),
})
export type UnpaidSeats = z.infer<typeof unpaidSeatsSchema>

/**
 * `POST /member-seats`: holds a seat in the members' session of a date for whoever asks with an address, while the membership
 * is paid. It is called twice: without `attemptId` before a checkout is asked for, which keeps the seat of an open checkout
 * of theirs as well, and with the checkout's id once it is there, which lets all their other seats go. 400
 * `class_not_offered`, 409 `class_full`, 409 `already_member` where that checkout is paid. `POST /member-seats/release`
 * (the same without date and id) says that no checkout came of the first call.
 */
export const holdMemberSeatSchema = z.object({
  email: field.email,
  classDate: field.plainDate,
  attemptId: field.uuid().optional(),
  ...askerShape,
  network: visitorNetwork,
})
export type HoldMemberSeat = z.infer<typeof holdMemberSeatSchema>
export const memberHoldSchema = z.object({ classDate: z.string(), heldUntil: z.iso.datetime() })
export type MemberHold = z.infer<typeof memberHoldSchema>

/**
 * `POST /member-seats/:id/open`: the payment page of a membership's checkout is being opened, so its seat is held for
 * as long as it can be paid there. 404 `membership_not_found` where no seat is held for it (any more). A BFF of the version
 * before does not tell how long that is.
 */
export const openMemberPageSchema = z.object({ expiresAt: z.iso.datetime().optional() })
export const openedMemberSeatSchema = z.object({ heldUntil: z.iso.datetime() })

/**
 * `GET /member-seats/:id`: the seat of a membership, by the membership's id, as far as its waiver goes. Names nobody:
 * whoever has the address of the waiver's page may see it. 404 `membership_not_found` until it is paid and known.
 */
export const memberSeatSchema = z.object({
  membershipId: z.uuid(),
  /** `released`: the membership ended before the class. `refused`: it never got the seat. */
  status: z.enum(['seated', 'released', 'refused']),
  classDate: z.string(),
  /** `HH:MM`; null where there is no such session. */
  startTime: z.string().nullable(),
  waiverSignedAt: z.iso.datetime().nullable(),
  /** Told to the account that the membership belongs to: what is signed, which it can sign anew. Else left out. */
  signed: z.object({ waiverId: z.uuid(), guardianName: z.string(), childNames: z.array(z.string()) }).optional(),
})
export type MemberSeat = z.infer<typeof memberSeatSchema>

/** `GET /member-seats/:id?ownerId=`: with the account that asks. */
export const memberSeatQuerySchema = z.object({ ownerId: field.uuid('ownerId must be a UUID.').optional() })

/** A registration is signed for by its email; a membership has its own. */
export function needEmail(
  { email, classType }: { email?: string | undefined; classType: ClassType },
  issues: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (email !== undefined || classType === 'membership') return
  const message = field.email.safeParse(email).error?.issues[0]?.message
  issues.addIssue({ code: 'custom', path: ['email'], message: message ?? 'Email is required.' })
}

/**
 * `POST /waivers`: the specified payload in its canonical shape, with what the BFF knows of the signer's request.
 * Without `registrationId`, the paid and unsigned registration of that email, child, date and class is meant, of those that
 * were made by the asking account or in the asking browser. A stranger is answered 404 `registration_not_found` whatever
 * there is, and the family is mailed the way to sign.
 * A membership's waiver (`classType` `membership`) needs it, with the membership's id, and the child's age: a member has
 * registered no child before. The address of a signature is always that of the membership, or the registration.
 */
export const signWaiverSchema = z
  .object({
    registrationId: field.uuid().optional(),
    /** The signature of a membership that this one takes the place of, where its owner says so; both are kept. */
    replaces: field.uuid('replaces must be a UUID.').optional(),
    guardianName: field.guardianName,
    childName: field.childName,
    /** Read of a membership's waiver alone, as the address is. */
    childAge: z.number().optional(),
    /** Not read of a membership's. */
    email: field.email.optional(),
    startDate: z.union([field.plainDate, z.literal('')]).default(''),
    classType: classTypeSchema,
    address: z
      .object({
        addressLine1: z.string(),
        addressLine2: z.string(),
        city: z.string(),
        state: z.string(),
        zipCode: z.string(),
      })
      .optional(),
    /** Hex SHA-256 of the document that the signer's page showed; null where the client did not tell. */
    documentSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .default(null),
    evidence: z.object({ ipAddress: z.string(), userAgent: z.string().max(1000) }),
    ...askerShape,
  })
  .superRefine(needEmail)
export type SignWaiver = z.input<typeof signWaiverSchema>

/** A part of the waiver's text. A `list` has a line for each of its points, the others have one. */
export const waiverBlockSchema = z.object({
  kind: z.enum(['company', 'title', 'edition', 'heading', 'paragraph', 'list', 'closing']),
  lines: z.array(z.string()),
})
export type WaiverBlock = z.infer<typeof waiverBlockSchema>

/** `GET /waiver-document`: the words of `/waiver.pdf` in their order, with the file's hash, which goes with the signature. */
export const waiverDocumentSchema = z.object({
  /** Hex SHA-256 of the PDF. */
  sha256: z.string(),
  blocks: z.array(waiverBlockSchema),
})
export type WaiverDocument = z.infer<typeof waiverDocumentSchema>

/**
 * The answer to `POST /waivers`; signing again with the same content answers the same. The signature is kept, and the kit
 * ready, from then on. The signed PDF is made afterwards: until `waiver.signed` tells of it, `GET /waivers/:id.pdf` answers
 * 409 `signed_pdf_not_ready`.
 */
export const waiverSchema = z.object({
  waiverId: z.uuid(),
  /** Or the membership's id, where its waiver was signed. */
  registrationId: z.uuid(),
  signedAt: z.iso.datetime(),
  /** Hex SHA-256 of `/waiver.pdf` as it was shown. */
  documentSha256: z.string(),
})
export type Waiver = z.infer<typeof waiverSchema>

/**
 * `POST /registrations/:id/hold`: somebody goes on to pay a registration that was there already. Seats that were let go are taken
 * again, those that are held for too short a time are held for longer, and all others stay as they are. It is asked before billing
 * is asked for a checkout. A BFF of the version before asks again afterwards, with the checkout.
 */
export const holdAgainSchema = z.object({ attemptId: z.uuid().optional(), ...askerShape, network: visitorNetwork })
export type HoldAgain = z.infer<typeof holdAgainSchema>

/**
 * `POST /registrations/:id/open`: its payment page, that of this checkout, is being opened, so the seats are held for as long
 * as it can be paid there. 409 `registration_closed` where it holds no seats (any more). A BFF of the version before names no
 * checkout.
 */
export const openPageSchema = z.object({
  attemptId: z.uuid(),
  createdAt: z.iso.datetime(),
  /** When the page can be paid no more. */
  expiresAt: z.iso.datetime().optional(),
})
export type OpenPage = z.infer<typeof openPageSchema>

/** `POST /kits/:registrationId/ship` (administrators). */
export const shipKitSchema = z.object({
  carrier: field.requiredLine('Carrier', 100),
  trackingNumber: field.requiredLine('Tracking number', 100),
})
export type ShipKit = z.infer<typeof shipKitSchema>

/** A new season is on sale. Told once, by its name. */
export const seasonOpened = defineEvent(
  'enrollment',
  'season.opened',
  z.object({
    season: z.string(),
    /** The day in California on which it was opened, `YYYY-MM-DD`. */
    openedOn: z.iso.date(),
    /** The days that have classes, in order. */
    classDates: z.array(z.iso.date()).min(1),
  }),
)

/** Children that a class is meant to have at least. */
export const smallestClass = 5

/** Classes of a day that begins in a week have fewer children than they are meant to have. Told once of each class, for the operator to judge. */
export const smallClassesFound = defineEvent(
  'enrollment',
  'small_classes.found',
  z.object({
    classDate: z.iso.date(),
    classes: z
      .array(
        z.object({
          classSessionId: z.uuid(),
          classType: classTypeSchema,
          title: z.string(),
          /** `HH:MM` in `timeZone`. */
          startTime: z.string(),
          timeZone: z.string(),
          /** Children whose seats are paid, and those whose seats wait for their payment. */
          paid: z.int().min(0),
          held: z.int().min(0),
          capacity: z.int().min(0),
        }),
      )
      .min(1),
  }),
)

const confirmedPayment = z.object({
  paymentId: z.uuid(),
  receiptNumber: z.string(),
  amount: z.int(),
  currency: z.literal('usd'),
})

export const registrationHeld = defineEvent(
  'enrollment',
  'registration.held',
  registrationFactsSchema.extend({ heldUntil: z.iso.datetime() }),
)
export const registrationConfirmed = defineEvent(
  'enrollment',
  'registration.confirmed',
  registrationFactsSchema.extend({ payment: confirmedPayment }),
)
/** It was paid, but no seat is left for it: billing owes the money back. */
export const registrationRejected = defineEvent(
  'enrollment',
  'registration.rejected',
  registrationFactsSchema.extend({
    payment: confirmedPayment,
    reason: z.enum(['class_full', 'class_started', 'registration_cancelled']),
    /** The registration that stands for the same child, class and date: this one was paid a second time for it. */
    duplicateOf: z.uuid().nullish(),
  }),
)
/** The hold ran out unpaid and its seats are free again: billing closes the checkout that may still be open. */
export const registrationExpired = defineEvent('enrollment', 'registration.expired', registrationFactsSchema)
export const registrationCancelled = defineEvent(
  'enrollment',
  'registration.cancelled',
  registrationFactsSchema.extend({ reason: z.enum(['refunded', 'requested']) }),
)
/**
 * A waiver was signed, and its signed PDF is there. Of a registration, or of a membership: then `classType` is
 * `membership`, and `registrationId` the membership's id.
 */
export const waiverSigned = defineEvent(
  'enrollment',
  'waiver.signed',
  registrationFactsSchema.extend({
    waiverId: z.uuid(),
    signedAt: z.iso.datetime(),
    documentSha256: z.string(),
    /** Where enrollment serves the signed PDF, relative to its own address: `/waivers/{id}.pdf`. */
    signedPdfPath: z.string(),
    /** The signature that this one takes the place of. */
    replaces: z.uuid().nullish(),
  }),
)
/**
 * A stranger asked for what a paid registration has: a seat for one of its children (`seat`), or to sign its waiver without its
 * reference (`waiver`). They were told nothing; its family is.
 */
export const registrationAskedAgain = defineEvent(
  'enrollment',
  'registration.asked_again',
  registrationFactsSchema.extend({ askedFor: z.enum(['seat', 'waiver']), isSigned: z.boolean() }),
)
/** A membership that is paid has its seat in the members' session of its date: it is confirmed. */
export const memberSeated = defineEvent(
  'enrollment',
  'member.seated',
  membershipFactsSchema.extend({
    classSessionId: z.uuid(),
    /** `YYYY-MM-DD` */
    classDate: z.string(),
    startTime: z.string(),
    durationMinutes: z.int(),
    timeZone: z.string(),
    /** Of the first payment. */
    receiptNumber: z.string().nullable(),
    /** When the next payment is due. */
    renewsAt: z.iso.datetime().nullable(),
    /** The member's own, as `subscription.activated` has it. */
    familyTimeZone: z.string().nullish(),
  }),
)
/** A membership was paid, but its seat is gone: billing ends it and owes the money back. */
export const memberRejected = defineEvent(
  'enrollment',
  'member.rejected',
  membershipFactsSchema.extend({
    classDate: z.string(),
    reason: z.enum(['class_full', 'class_started', 'class_not_offered']),
  }),
)
export const kitReady = defineEvent('enrollment', 'kit.ready', registrationFactsSchema)
export const kitShipped = defineEvent(
  'enrollment',
  'kit.shipped',
  registrationFactsSchema.extend({ carrier: z.string(), trackingNumber: z.string() }),
)

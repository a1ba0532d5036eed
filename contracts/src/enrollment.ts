import { z } from 'zod'
import { maxChildren } from './children.ts'
import { defineEvent } from './event.ts'
import * as field from './fields.ts'
import { meetingSchema, scheduleSchema } from './meetings.ts'
import { membershipFactsSchema } from './membership.ts'
import { paymentStates } from './payment-state.ts'

/** The types of class sessions: the four levels, and the members' session of each date. */
export const classTypes = ['basic', 'intermediate', 'advanced', 'custom', 'membership'] as const
export const classTypeSchema = z.enum(classTypes, { error: 'Choose a class.' })
export type ClassType = z.infer<typeof classTypeSchema>
/** The class types sold on the sign-up pages. */
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

/** The body of `POST /registrations`, and of the BFF's `POST /api/registrations` (with a required `id`). */
export const registrationRequestSchema = z.object({
  /** UUIDv7 created by the client: the idempotency key in every service. */
  id: z.uuid({ version: 'v7', error: 'id must be a UUIDv7.' }).toLowerCase(),
  guardianName: field.guardianName,
  email: field.email,
  ...childSchema.shape,
  /** More children of the same family. Each takes a seat; either all of them get one or none. */
  siblings: z
    .array(childSchema, { error: 'Siblings must be a list.' })
    .max(maxChildren - 1, { error: `One registration can include at most ${maxChildren} children.` })
    .default([]),
  ...addressSchema.shape,
  startDate: field.plainDate,
  classType: levelClassTypeSchema,
  /**
   * A registration that this one replaces. Only its owner can replace it: its account or, if it has none, the browser that made
   * it, with the same email; for anyone else the field is ignored. If it is unpaid, its seats are released: in the same
   * transaction if they are for the same class and date, otherwise once the new registration has its payment page. 409
   * `already_paid` if it is paid; a registration that has ended or does not exist stays as it is.
   */
  replaces: field.uuid('replaces must be a UUID.').optional(),
  /**
   * Rejects with 409 `already_registered` if one of the children already has a seat (paid or held) for this class and date under
   * this email, made by the requester's account or browser. If that registration is identical, it is returned instead. Anyone
   * else can register as if there were none, so that nothing is disclosed, and a second payment is refunded. Our website sets
   * this; if omitted, every id is a registration of its own.
   */
  unlessRegistered: z.boolean({ error: 'unlessRegistered must be true or false.' }).optional(),
  /** The time zone for the family's mails: that of its browser, an IANA name. The first one received is kept. */
  familyTimeZone: field.timeZone.optional(),
})
export type RegistrationRequest = z.infer<typeof registrationRequestSchema>

/** The account that owns a record: the `sub` of its tokens. Never taken from the browser's request, which could name anyone. */
const ownerId = z.uuid().nullish()

/**
 * Who sends a request: the signed-in account, and the browser, identified by the id that the BFF sealed into its cookie at the
 * first purchase. Anyone else is a stranger, whatever address or reference they know. Neither id is taken from the body of a
 * browser's request or included in a response or event. Absent from requests of a BFF of the previous version.
 */
export const requesterShape = { ownerId, browserId: z.uuid().nullish() }

/**
 * The network that a visitor's request came from, as `blockOf` formats it; unpaid seats are limited per network. The BFF takes
 * it from the connection, never from a body. Without it (a BFF of the previous version), seats are not limited and are held
 * for the lifetime of a payment page from the start.
 */
export const visitorNetwork = z.string().min(1).max(60).optional()

/**
 * `POST /registrations`: the request, with who sent it. `POST /registrations/judge` takes the same body and rejects the same
 * requests, but holds no seats: the BFF calls it before it closes the checkout of the replaced registration.
 */
export const holdSeatsSchema = registrationRequestSchema.extend({ ...requesterShape, network: visitorNetwork })
export type HoldSeats = z.infer<typeof holdSeatsSchema>

/** The response to `POST /registrations/judge`. */
export const registrationCheckSchema = z.object({
  /** The existing registration that `POST /registrations` would return instead of a new one. */
  registrationId: z.uuid().nullable(),
  /** The registration to be replaced; its payment page must be closed first. Absent from responses of the previous version. */
  replaces: z.uuid().nullish(),
})
export type RegistrationCheck = z.infer<typeof registrationCheckSchema>

/**
 * The registration data in events, checkouts and mails. `email` and `ownerId` follow the account. Once it is paid, its family can
 * cancel and move single children, and correct names, ages and the address: `children` are those that still have a seat, and the
 * class is where they have it, or the first of them if they are in several.
 */
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
  /** The display name of the level: `Level 1 Foundations`. */
  levelTitle: z.string(),
  /** `YYYY-MM-DD` */
  startDate: z.string(),
  /** `HH:MM` on the wall clock of `timeZone`. */
  startTime: z.string(),
  durationMinutes: z.int(),
  /** IANA name. */
  timeZone: z.string(),
  /** From the request; null or absent if it had none. */
  familyTimeZone: z.string().nullish(),
  /** Absent from events older than registration owners; null if no account owns it. */
  ownerId,
})
export type RegistrationFacts = z.infer<typeof registrationFactsSchema>

/** A child of a paid registration, and where it has its seat: a place may have been moved, or cancelled, since the payment. */
export const placeSchema = z.object({
  placeId: z.uuid(),
  childName: z.string(),
  childAge: z.int(),
  status: z.enum(['seated', 'cancelled']),
  /** The class session of its seat; of a cancelled place, the last one. */
  classSessionId: z.uuid(),
  classType: classTypeSchema,
  levelTitle: z.string(),
  startDate: z.string(),
  startTime: z.string(),
  durationMinutes: z.int(),
  timeZone: z.string(),
  /** Cents that were paid for this child and not given back by a cancellation or a move. */
  paidAmount: z.int(),
  /** The number of moves that the family has made. */
  moves: z.int(),
  cancelledAt: z.iso.datetime().nullable(),
  /** Of its class, as they are now. */
  meetings: z.array(meetingSchema).optional(),
  /** Null until the school names one. */
  coachName: z.string().nullish(),
  /** That the school has cancelled its class, for a child that still sits there. */
  classCancelled: z
    .object({
      /** The family's choice; null for the moment until it is there. */
      choiceId: z.uuid().nullable(),
      chooseUntil: z.iso.datetime(),
      /** Cents that go back for all children of this choice, if none of them moves. */
      back: z.int(),
    })
    .optional(),
  /** Of a cancelled place, that the school had cancelled its class: the family chose its money, or had not chosen in time. */
  cancelledBySchool: z.enum(['chosen', 'deadline']).optional(),
})
export type Place = z.infer<typeof placeSchema>

/** `GET /registrations/:id`. */
export const registrationSchema = registrationFactsSchema.extend({
  /** By the order of the children at the payment; empty until it is paid. Absent from responses of the previous version. */
  places: z.array(placeSchema).optional(),
  status: registrationStatusSchema,
  /** When the seats are released if unpaid; null once they are confirmed or released. */
  heldUntil: z.iso.datetime().nullable(),
  /** Whether the payment page was opened, so that the seats are held until it expires. Absent from responses of the previous version. */
  pageOpened: z.boolean().optional(),
  /** Why a paid registration was rejected. */
  rejectionReason: z.enum(['class_full', 'class_started', 'registration_cancelled']).nullable(),
  payment: z
    .object({
      paymentId: z.uuid(),
      receiptNumber: z.string(),
      amount: z.int(),
      currency: z.literal('usd'),
      paidAt: z.iso.datetime(),
      /** Absent from responses of the previous version. */
      state: z.enum(paymentStates).optional(),
    })
    .nullable(),
  waiver: z.object({ waiverId: z.uuid(), signedAt: z.iso.datetime(), documentSha256: z.string() }).nullable(),
  /** Also null while the state of the registration or its payment forbids shipping a kit that was ready. */
  kit: z
    .object({
      status: z.enum(['ready', 'shipped']),
      /** Of a shipped kit. Absent from responses of the previous version, as are the next two. */
      carrier: z.string().optional(),
      trackingNumber: z.string().optional(),
      shippedAt: z.iso.datetime().optional(),
    })
    .nullable(),
  /** The meetings of its class, as they are now. Absent from responses of the previous version. */
  meetings: z.array(meetingSchema).optional(),
  /** Null until the school names one. */
  coachName: z.string().nullish(),
  createdAt: z.iso.datetime(),
  updatedAt: z.iso.datetime(),
})
export type Registration = z.infer<typeof registrationSchema>

/** The answer to `POST /registrations`, which takes one statement and does not read the schedule. */
export const heldRegistrationSchema = registrationSchema.omit({ meetings: true, coachName: true }).extend({
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

/** `GET /registrations?email=&ownerId=&status=&cursor=&limit=`: newest first, by their creation time on the server. */
export const registrationQuerySchema = z.object({
  email: z.string().max(254).optional(),
  ownerId: field.uuid('ownerId must be a UUID.').optional(),
  status: registrationStatusSchema.optional(),
  /** `nextCursor` of the previous page. */
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
  /** Without those set aside for the waitlist. Never negative, even if the capacity was lowered below the number of taken seats. */
  seatsLeft: z.int().min(0),
  /** The number of families in its line. Absent from responses of the previous version. */
  familiesWaiting: z.int().min(0).optional(),
  /** Absent from responses of the previous version. */
  meetings: z.array(meetingSchema).optional(),
})
export type ClassSession = z.infer<typeof classSessionSchema>

/** A season with its seats, for administrators. */
const seasonSchema = z.object({
  /** `opened-2026-11-28` */
  season: z.string(),
  /** The day in California on which it was announced; null for the season before the first announced one. */
  openedOn: z.iso.date().nullable(),
  firstDate: z.iso.date(),
  lastDate: z.iso.date(),
  /** The number of class sessions. */
  sessions: z.int(),
  capacity: z.int(),
  held: z.int(),
  sold: z.int(),
})

/** `GET /admin/seasons` (administrators): newest first. */
export const seasonsSchema = z.object({ seasons: z.array(seasonSchema) })
export type Seasons = z.infer<typeof seasonsSchema>

/**
 * `POST /admin/seasons` (administrators): opens a season with a session of each class on each date, and announces it. 409
 * `season_exists` if one was opened today, `class_session_exists` if there are classes on one of the dates.
 */
export const openSeasonSchema = z.object({ classDates: z.array(z.iso.date()).min(1).max(60) })

/** A class session with its seats, for administrators. */
export const listedSessionSchema = z.object({
  classSessionId: z.uuid(),
  season: z.string(),
  classType: classTypeSchema,
  date: z.iso.date(),
  startTime: z.string(),
  timeZone: z.string(),
  capacity: z.int(),
  held: z.int(),
  sold: z.int(),
  status: z.enum(['open', 'cancelled']),
  coachName: z.string().nullish(),
  joinUrl: z.string().nullish(),
  passcode: z.string().nullish(),
  meetings: z.array(meetingSchema).optional(),
})
export type ListedSession = z.infer<typeof listedSessionSchema>

/** `GET /admin/class-sessions` (administrators): by date; without `all`, only those that have not begun. */
export const classSessionsQuerySchema = z.object({
  all: z.stringbool().default(false),
  season: z.string().max(60).optional(),
})
export const classSessionsSchema = z.object({ sessions: z.array(listedSessionSchema) })

/**
 * `POST /admin/class-sessions/:id/capacity` (administrators). 409 `seats_taken` if more seats are sold and held than there
 * would be.
 */
export const setCapacitySchema = z.object({ capacity: z.int().min(0).max(1_000) })

export const levelSchema = z.object({
  levelId: z.enum(levelIds),
  classType: levelClassTypeSchema,
  /** `Level 1 Foundations` */
  title: z.string(),
  description: z.string(),
  recommendedAges: z.object({ from: z.int(), to: z.int() }),
  /** `6 weeks`, `6 to 8 weeks` */
  programLength: z.string(),
  /** Only sessions on sale: open and in the future. */
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
      /** `HH:MM` at the school. Absent from a service of the previous version. */
      startTime: z.string().optional(),
    }),
  ),
})
export type AvailableSlots = z.infer<typeof availableSlotsSchema>

/** `GET /unpaid-seats`: the number of unpaid held seats and of free seats per session on sale. */
export const unpaidSeatsSchema = z.object({
  sessions: z.array(z.object({ classType: classTypeSchema, held: z.int().min(0), left: z.int().min(0) })),
})
export type UnpaidSeats = z.infer<typeof unpaidSeatsSchema>

/**
 * `POST /member-seats`: holds a seat in the members' session of a date while the membership is being paid. It is called twice:
 * without `attemptId` before the checkout is created, which keeps the seat of the requester's open checkout as well, and with
 * the checkout's id once it exists, which releases the requester's other seats. 400 `class_not_offered`, 409 `class_full`, 409
 * `already_member` if that checkout is paid. `POST /member-seats/release` (the same without date and id) releases the seat of
 * the first call if no checkout was created.
 */
export const holdMemberSeatSchema = z.object({
  email: field.email,
  classDate: field.plainDate,
  attemptId: field.uuid().optional(),
  ...requesterShape,
  network: visitorNetwork,
})
export type HoldMemberSeat = z.infer<typeof holdMemberSeatSchema>
export const memberHoldSchema = z.object({ classDate: z.string(), heldUntil: z.iso.datetime() })
export type MemberHold = z.infer<typeof memberHoldSchema>

/**
 * `POST /member-seats/:id/open`: the payment page of a membership checkout is being opened, so its seat is held until the page
 * expires. 404 `membership_not_found` if no seat is held for it (any more). A BFF of the previous version sends no `expiresAt`.
 */
export const openMemberPageSchema = z.object({ expiresAt: z.iso.datetime().optional() })
export const openedMemberSeatSchema = z.object({ heldUntil: z.iso.datetime() })

/**
 * `GET /member-seats/:id`: the seat of a membership, by the membership's id, for its waiver page. Contains no personal data
 * (except for the owner), because anyone with the page's URL can read it. 404 `membership_not_found` until it is paid and the
 * event has arrived.
 */
export const memberSeatSchema = z.object({
  membershipId: z.uuid(),
  /** `released`: the membership ended before the class. `refused`: it never got a seat. */
  status: z.enum(['seated', 'released', 'refused']),
  classDate: z.string(),
  /** `HH:MM`; null if there is no such session. */
  startTime: z.string().nullable(),
  waiverSignedAt: z.iso.datetime().nullable(),
  /** Only for the owner's account: the signed waiver, which it can replace. */
  signed: z.object({ waiverId: z.uuid(), guardianName: z.string(), childNames: z.array(z.string()) }).optional(),
})
export type MemberSeat = z.infer<typeof memberSeatSchema>

/** `GET /member-seats/:id?ownerId=`: the requesting account. */
export const memberSeatQuerySchema = z.object({ ownerId: field.uuid('ownerId must be a UUID.').optional() })

/** Requires an email for the waiver of a registration; that of a membership uses the membership's email. */
export function requireEmail(
  { email, classType }: { email?: string | undefined; classType: ClassType },
  issues: Pick<z.RefinementCtx, 'addIssue'>,
): void {
  if (email !== undefined || classType === 'membership') return
  const message = field.email.safeParse(email).error?.issues[0]?.message
  issues.addIssue({ code: 'custom', path: ['email'], message: message ?? 'Email is required.' })
}

/**
 * `POST /waivers`: the specified payload in its canonical form, with the evidence of the signer's request.
 * Without `registrationId`, it signs for the paid, unsigned registration with that email, child, date and class that was made
 * by the requester's account or browser. Anyone else always gets 404 `registration_not_found`, and the family gets a mail with
 * the link to sign.
 * A membership's waiver (`classType` `membership`) requires `registrationId` (the membership's id) and the child's age, since
 * the membership has no registered child. The email of a signature is always that of the membership or registration.
 */
export const signWaiverSchema = z
  .object({
    registrationId: field.uuid().optional(),
    /** The membership's earlier signature that this one replaces; only its owner can set this. Both are kept. */
    replaces: field.uuid('replaces must be a UUID.').optional(),
    guardianName: field.guardianName,
    childName: field.childName,
    /** Used only for a membership, as is `address`. */
    childAge: z.number().optional(),
    /** Ignored for a membership. */
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
    /** Hex SHA-256 of the document that the signer's page showed; null if the client did not send it. */
    documentSha256: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .nullable()
      .default(null),
    evidence: z.object({ ipAddress: z.string(), userAgent: z.string().max(1000) }),
    ...requesterShape,
  })
  .superRefine(requireEmail)
export type SignWaiver = z.input<typeof signWaiverSchema>

/** A block of the waiver's text. A `list` has one line per item, the others have one line. */
export const waiverBlockSchema = z.object({
  kind: z.enum(['company', 'title', 'edition', 'heading', 'paragraph', 'list', 'closing']),
  lines: z.array(z.string()),
})
export type WaiverBlock = z.infer<typeof waiverBlockSchema>

/** `GET /waiver-document`: the text of `/waiver.pdf`, with the file's hash, which is sent back with the signature. */
export const waiverDocumentSchema = z.object({
  /** Hex SHA-256 of the PDF. */
  sha256: z.string(),
  blocks: z.array(waiverBlockSchema),
})
export type WaiverDocument = z.infer<typeof waiverDocumentSchema>

/**
 * The response to `POST /waivers`; signing again with the same content returns the same. The signature is stored and the kit
 * is ready at this point. The signed PDF is created afterwards: until `waiver.signed` is published, `GET /waivers/:id.pdf`
 * responds 409 `signed_pdf_not_ready`.
 */
export const waiverSchema = z.object({
  waiverId: z.uuid(),
  /** For a membership's waiver, the membership's id. */
  registrationId: z.uuid(),
  signedAt: z.iso.datetime(),
  /** Hex SHA-256 of `/waiver.pdf` as shown. */
  documentSha256: z.string(),
})
export type Waiver = z.infer<typeof waiverSchema>

/**
 * `POST /registrations/:id/hold`: renews the hold of an existing registration that is about to be paid. Released seats are taken again,
 * seats that are held for too short a time are held for longer, and all others stay as they are. The BFF calls it before it asks
 * billing for a checkout; one of the previous version calls it again afterwards, with the checkout.
 */
export const renewHoldSchema = z.object({ attemptId: z.uuid().optional(), ...requesterShape, network: visitorNetwork })
export type RenewHold = z.infer<typeof renewHoldSchema>

/**
 * `POST /registrations/:id/open`: the payment page of this checkout is being opened, so the seats are held until the page
 * expires. 409 `registration_closed` if it holds no seats (any more). A BFF of the previous version names no checkout.
 */
export const openPageSchema = z.object({
  attemptId: z.uuid(),
  createdAt: z.iso.datetime(),
  /** When the payment page expires. */
  expiresAt: z.iso.datetime().optional(),
})
export type OpenPage = z.infer<typeof openPageSchema>

/** `POST /kits/:registrationId/ship` (administrators). */
export const shipKitSchema = z.object({
  carrier: field.requiredLine('Carrier', 100),
  trackingNumber: field.requiredLine('Tracking number', 100),
})
export type ShipKit = z.infer<typeof shipKitSchema>

/** A new season is on sale. Published once per season name. */
export const seasonOpened = defineEvent(
  'enrollment',
  'season.opened',
  z.object({
    season: z.string(),
    /** The day in California on which it opened, `YYYY-MM-DD`. */
    openedOn: z.iso.date(),
    /** The days with classes, in order. */
    classDates: z.array(z.iso.date()).min(1),
  }),
)

/** The number of children that a class should have at least. */
export const minClassSize = 5

/** Classes of a day within the coming week are below the minimum size. Published once per class, for the operator to decide. */
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
          /** The number of paid seats and of held, unpaid seats. */
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
  // An event of the previous version has no schedule.
  registrationFactsSchema.extend({ payment: confirmedPayment, ...scheduleSchema.partial().shape }),
)
/** A registration was paid but could not get its seats: billing refunds it. */
export const registrationRejected = defineEvent(
  'enrollment',
  'registration.rejected',
  registrationFactsSchema.extend({
    payment: confirmedPayment,
    reason: z.enum(['class_full', 'class_started', 'registration_cancelled']),
    /** The paid registration of the same child, class and date: this one was a second payment. */
    duplicateOf: z.uuid().nullish(),
  }),
)
/** An unpaid hold expired and its seats are free again: billing closes the checkout if it is still open. */
export const registrationExpired = defineEvent('enrollment', 'registration.expired', registrationFactsSchema)
export const registrationCancelled = defineEvent(
  'enrollment',
  'registration.cancelled',
  registrationFactsSchema.extend({
    reason: z.enum(['refunded', 'requested']),
    /** If its own payment was refunded: the payments of its moves, which go back as well. Absent from older events. */
    movePaymentIds: z.array(z.uuid()).optional(),
  }),
)
/**
 * A waiver was signed and its signed PDF exists. For a membership, `classType` is `membership` and `registrationId` is the
 * membership's id.
 */
export const waiverSigned = defineEvent(
  'enrollment',
  'waiver.signed',
  registrationFactsSchema.extend({
    waiverId: z.uuid(),
    signedAt: z.iso.datetime(),
    documentSha256: z.string(),
    /** The path of the signed PDF on enrollment: `/waivers/{id}.pdf`. */
    signedPdfPath: z.string(),
    /** The signature that this one replaces. */
    replaces: z.uuid().nullish(),
    /** Of a membership only: whether its member's account is deleted, so that nobody can log in and sign again. */
    accountDeleted: z.boolean().optional(),
  }),
)
/**
 * Someone else requested what a paid registration already has: a seat for one of its children (`seat`), or to sign its waiver
 * without its reference (`waiver`). They were told nothing; the family is notified.
 */
export const registrationAskedAgain = defineEvent(
  'enrollment',
  'registration.asked_again',
  registrationFactsSchema.extend({ askedFor: z.enum(['seat', 'waiver']), isSigned: z.boolean() }),
)
/** A paid membership got its seat in the members' session of its date: it is confirmed. */
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
    /** When the next charge is due. */
    renewsAt: z.iso.datetime().nullable(),
    /** As in `subscription.activated`. */
    familyTimeZone: z.string().nullish(),
  }),
)
/** A membership was paid but could not get its seat: billing ends and refunds it. */
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

import { agreementSchema } from '@robokids/contracts/agreement'
import {
  confirmSignUpResponseSchema,
  deliveryResponseSchema,
  membershipCheckoutResponseSchema,
  passkeyOptionsSchema,
  profileSchema,
  sessionSchema,
  signInStepSchema,
  signUpResponseSchema,
  totpSetUpSchema,
} from '@robokids/contracts/auth'
import {
  classesViewSchema,
  registerResponseSchema,
  registrationViewSchema,
  waiverResponseSchema,
} from '@robokids/contracts/bff'
import {
  foundMembershipSchema,
  membershipOutcomeSchema,
  membershipPlansSchema,
  membershipSchema,
  portalSchema,
  switchQuoteSchema,
} from '@robokids/contracts/billing'
import {
  changeQuoteSchema,
  changeSchema,
  changesSchema,
  correctedSchema,
  moveOptionsSchema,
  moveResponseSchema,
} from '@robokids/contracts/changes'
import { choiceSchema } from '@robokids/contracts/class-cancellation'
import { messageSentSchema } from '@robokids/contracts/contact'
import {
  calendarAddressSchema,
  dashboardPastSchema,
  dashboardSchema,
  familySchema,
} from '@robokids/contracts/dashboard'
import { availableSlotsSchema, memberSeatSchema, waiverDocumentSchema } from '@robokids/contracts/enrollment'
import { classLinkSchema } from '@robokids/contracts/meetings'
import { bookableClassesSchema, memberClassSchema } from '@robokids/contracts/member-classes'
import { proofChallengeSchema } from '@robokids/contracts/proof'
import { checkoutResponseSchema, stockAlertSchema, orderSchema, shopViewSchema } from '@robokids/contracts/shop'
import { waitlistViewSchema } from '@robokids/contracts/waitlist'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import * as account from '../account/answers.ts'
import { sessionAnswer } from '../account/session.ts'
import { sampleAgreement } from '../checkout/sample-agreement.ts'
import { agreementAnswer } from '../checkout/way-on.ts'
import { classesView } from '../classes/classes-query.ts'
import { messageTaken } from '../contact/answers.ts'
import * as home from '../dashboard/answers.ts'
import * as changing from '../dashboard/change-answers.ts'
import { dashboardPast } from '../dashboard/PastList.tsx'
import { sampleChange } from '../dashboard/sample-change.ts'
import { sampleChoice } from '../dashboard/sample-choice.ts'
import { sampleCard, sampleDashboard } from '../dashboard/sample-dashboard.ts'
import * as member from '../membership/answers.ts'
import * as booking from '../membership/book-answers.ts'
import { membershipPlans } from '../membership/plans-query.ts'
import * as register from '../membership/register-answers.ts'
import { sampleBookable, sampleMemberClass } from '../membership/sample-bookable.ts'
import { sampleMembership } from '../membership/sample-membership.ts'
import { proofChallenge } from '../proof-of-work/answers.ts'
import { familyAnswer } from '../registration/account-values.ts'
import { registerAnswer, registrationView } from '../registration/answers.ts'
import * as shop from '../shop/answers.ts'
import { shopView } from '../shop/shop-query.ts'
import { waitlistView } from '../waitlist/answers.ts'
import { waiverAnswer, waiverDocument } from '../waiver/answers.ts'
import type { Answer, Shape } from './answer.ts'

const uuid = '019a0000-0000-7000-8000-000000000001'
const time = '2030-01-02T03:04:05.000Z'

const cases: { file: string; schema: z.ZodType; answer: Answer<unknown>; sample: object }[] = [
  {
    file: 'agreement',
    schema: agreementSchema,
    answer: agreementAnswer,
    sample: sampleAgreement({
      renewal: { plan: 'monthly', amount: 700, on: '2030-01-04' },
      termsVersion: '1',
      reckonedAt: 1_900_000_000,
    }),
  },
  {
    file: 'proof-challenge',
    schema: proofChallengeSchema,
    answer: proofChallenge,
    sample: {
      challenge: {
        parameters: {
          algorithm: 'PBKDF2/SHA-256',
          nonce: '00',
          salt: '00',
          cost: 500,
          keyLength: 32,
          keyPrefix: '00',
          keySignature: '00',
          expiresAt: 1_900_000_000,
          data: { form: 'registration', level: 0 },
        },
        signature: '00',
      },
    },
  },
  {
    file: 'member-seat',
    schema: memberSeatSchema,
    answer: member.memberSeat,
    sample: { membershipId: uuid, status: 'seated', classDate: '2030-01-04', startTime: '16:00', waiverSignedAt: null },
  },
  {
    file: 'calendar-address',
    schema: calendarAddressSchema,
    answer: home.calendarAddress,
    sample: { url: 'https://school.example/calendar/secret.ics' },
  },
  {
    file: 'class-link',
    schema: classLinkSchema,
    answer: home.classLink,
    sample: { meeting: 1, joinUrl: 'https://meet.example.com/room-7', passcode: '4242', closesAt: time },
  },
  { file: 'changes', schema: changesSchema, answer: changing.changes, sample: { places: [], changes: [] } },
  {
    file: 'corrected',
    schema: correctedSchema,
    answer: changing.corrected,
    sample: {
      children: [{ childName: 'Ivo', childAge: 9 }],
      address: { addressLine1: '14 Alder Way', addressLine2: '', city: 'Durham', state: 'NC', zipCode: '27701' },
    },
  },
  { file: 'choice', schema: choiceSchema, answer: changing.choice, sample: sampleChoice },
  { file: 'change', schema: changeSchema, answer: changing.change, sample: sampleChange },
  {
    file: 'change-quote',
    schema: changeQuoteSchema,
    answer: changing.changeQuote,
    sample: { quoteId: '00', terms: sampleChange.terms },
  },
  {
    file: 'move-options',
    schema: moveOptionsSchema,
    answer: changing.moveOptions,
    sample: { refusal: null, until: time, kitShipped: false, options: [] },
  },
  {
    file: 'move-answer',
    schema: moveResponseSchema,
    answer: changing.moveAnswer,
    sample: { change: sampleChange, checkoutUrl: 'https://pay.example/1' },
  },
  { file: 'member-class', schema: memberClassSchema, answer: booking.memberClass, sample: sampleMemberClass },
  {
    file: 'bookable-classes',
    schema: bookableClassesSchema,
    answer: booking.bookableClasses,
    sample: sampleBookable(),
  },
  {
    file: 'dashboard',
    schema: dashboardSchema,
    answer: home.dashboard,
    sample: sampleDashboard({ membership: { membership: sampleMembership, others: [] } }),
  },
  {
    file: 'dashboard-past',
    schema: dashboardPastSchema,
    answer: dashboardPast,
    sample: { cards: [sampleCard()], orders: null },
  },
  {
    file: 'family',
    schema: familySchema,
    answer: familyAnswer,
    sample: { children: [{ childName: 'Ivo', childAge: 9 }], address: sampleCard().address },
  },
  {
    file: 'shop-view',
    schema: shopViewSchema,
    answer: shopView,
    sample: {
      products: [
        { sku: 'product:robot-spider', name: 'Robot Spider', state: 'pre_order', amount: 30000, currency: 'usd' },
      ],
      classesFrom: { amount: 40000, currency: 'usd' },
    },
  },
  {
    file: 'checkout-answer',
    schema: checkoutResponseSchema,
    answer: shop.checkoutAnswer,
    sample: { checkoutUrl: 'https://pay.example/1', orderId: uuid },
  },
  { file: 'message-taken', schema: messageSentSchema, answer: messageTaken, sample: { reference: 'M-0F3A9C1B' } },
  {
    file: 'notice',
    schema: stockAlertSchema,
    answer: shop.noticeAnswer,
    sample: { sku: 'product:robot-spider', productName: 'Robot Spider', status: 'confirmed' },
  },
  {
    file: 'order',
    schema: orderSchema,
    answer: shop.orderAnswer,
    sample: {
      orderId: uuid,
      status: 'paid',
      lines: [
        { sku: 'product:robot-spider', name: 'Robot Spider', state: 'pre_order', quantity: 1, unitAmount: 30000 },
      ],
      amount: 30000,
      currency: 'usd',
      email: 'maren@example.com',
      shipTo: {
        name: 'Maren Holt',
        addressLine1: '14 Alder Way',
        addressLine2: '',
        city: 'San Mateo',
        state: 'CA',
        zipCode: '02139',
        country: 'US',
      },
      checkout: { status: 'paid', url: null, lastDecline: null },
      receiptNumber: 'RK-000001',
      paidAt: time,
      refunds: [{ amount: 100, currency: 'usd', status: 'succeeded', reason: 'requested' }],
      disputes: [{ amount: 100, currency: 'usd', status: 'won' }],
      shippedAt: null,
      trackingNumber: null,
    },
  },
  {
    file: 'classes-view',
    schema: classesViewSchema,
    answer: classesView,
    sample: {
      levels: [
        {
          levelId: 'lvl1',
          classType: 'basic',
          title: 'Level 1 Foundations',
          description: 'First robots.',
          recommendedAges: { from: 6, to: 13 },
          programLength: '6 weeks',
          price: { amount: 40000, currency: 'usd' },
          sessions: [
            {
              classSessionId: uuid,
              date: '2030-01-04',
              startTime: '16:00',
              durationMinutes: 75,
              timeZone: 'America/Los_Angeles',
              capacity: 10,
              seatsLeft: 3,
            },
          ],
        },
      ],
      promotion: { promotionId: uuid, classTypes: ['basic'], lastDay: '2030-01-10' },
    },
  },
  {
    file: 'register-answer',
    schema: registerResponseSchema,
    answer: registerAnswer,
    sample: { checkoutUrl: 'https://pay.example.com/1', registrationId: uuid },
  },
  {
    file: 'waitlist-view',
    schema: waitlistViewSchema,
    answer: waitlistView,
    sample: {
      entryId: uuid,
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      children: [{ childName: 'Ivo', childAge: 8 }],
      classSessionId: uuid,
      classType: 'basic',
      levelTitle: 'Level 1 Foundations',
      startDate: '2030-01-04',
      startTime: '16:00',
      durationMinutes: 75,
      timeZone: 'America/Los_Angeles',
      familyTimeZone: null,
      status: 'waiting',
      place: 3,
      familiesWaiting: 7,
      offerEndsAt: time,
      closedReason: null,
      endedAt: null,
      registrationId: null,
      createdAt: time,
    },
  },
  {
    file: 'registration-view',
    schema: registrationViewSchema,
    answer: registrationView,
    sample: {
      registrationId: uuid,
      status: 'confirmed',
      guardianName: 'Maren Holt',
      email: 'maren.holt@example.com',
      children: [{ childName: 'Ivo', childAge: 8 }],
      address: { addressLine1: '1 Main St', addressLine2: '', city: 'San Mateo', state: 'CA', zipCode: '94401' },
      classType: 'basic',
      levelTitle: 'Level 1 Foundations',
      startDate: '2030-01-04',
      startTime: '16:00',
      timeZone: 'America/Los_Angeles',
      heldUntil: null,
      rejectionReason: null,
      waiverSignedAt: time,
      checkout: {
        status: 'paid',
        url: null,
        amount: 40000,
        currency: 'usd',
        receiptNumber: 'R-1',
        paidAt: time,
        lastDecline: null,
        unitAmount: 40000,
        paidSeats: 1,
        refunds: [{ amount: 40000, currency: 'usd', status: 'succeeded', reason: 'seat_gone' }],
        disputes: [{ amount: 40000, currency: 'usd', status: 'lost' }],
      },
    },
  },
  {
    file: 'waiver-answer',
    schema: waiverResponseSchema,
    answer: waiverAnswer,
    sample: { waiverId: uuid, registrationId: uuid, signedAt: time },
  },
  {
    file: 'waiver-document',
    schema: waiverDocumentSchema,
    answer: waiverDocument,
    sample: { sha256: '0'.repeat(64), blocks: [{ kind: 'title', lines: ['Participation Agreement'] }] },
  },
  {
    file: 'session',
    schema: sessionSchema,
    answer: sessionAnswer,
    sample: { user: { userId: uuid, username: `user_${uuid}`, email: 'maren.holt@example.com' } },
  },
  {
    file: 'available-slots',
    schema: availableSlotsSchema,
    answer: register.availableSlots,
    sample: { slots: [{ classDate: '2030-01-04', availableSlots: 3, startTime: '16:00' }] },
  },
  {
    file: 'sign-up-answer',
    schema: signUpResponseSchema,
    answer: account.signUpAnswer,
    sample: { delivery: { medium: 'EMAIL', destination: 'm***@e***' }, confirmed: false },
  },
  {
    file: 'confirm-sign-up-answer',
    schema: confirmSignUpResponseSchema,
    answer: account.confirmSignUpAnswer,
    sample: { signedIn: true },
  },
  {
    file: 'delivery-answer',
    schema: deliveryResponseSchema,
    answer: account.deliveryAnswer,
    sample: { delivery: { medium: 'SMS', destination: '+*******1234' } },
  },
  {
    file: 'membership-checkout-answer',
    schema: membershipCheckoutResponseSchema,
    answer: register.membershipCheckoutAnswer,
    sample: { url: 'https://pay.example.com/1', message: 'You’re already a member.' },
  },
  {
    file: 'membership',
    schema: membershipSchema,
    answer: member.membership,
    sample: sampleMembership,
  },
  {
    file: 'found-membership',
    schema: foundMembershipSchema,
    answer: member.foundMembership,
    sample: { membership: sampleMembership },
  },
  {
    file: 'membership-outcome',
    schema: membershipOutcomeSchema,
    answer: member.membershipOutcome,
    sample: {
      attemptId: uuid,
      status: 'refused',
      refusal: 'class_full',
      checkoutUrl: 'https://pay.example.com/1',
      plan: 'monthly',
      classDate: '2030-01-04',
      amount: 700,
      currency: 'usd',
      receiptNumber: 'RK-000001',
      refunded: 700,
    },
  },
  {
    file: 'membership-plans',
    schema: membershipPlansSchema,
    answer: membershipPlans,
    sample: {
      plans: [{ plan: 'monthly', amount: 700, currency: 'usd', termsVersion: '1', terms: 'It renews by itself.' }],
    },
  },
  {
    file: 'portal',
    schema: portalSchema,
    answer: member.portal,
    sample: { url: 'https://pay.example.com/portal' },
  },
  {
    file: 'switch-quote',
    schema: switchQuoteSchema,
    answer: member.switchQuote,
    sample: {
      plan: 'yearly',
      from: time,
      dueNow: 5_651,
      credit: 349,
      amount: 6_000,
      currency: 'usd',
      nextChargeAt: time,
      reckonedAt: 1_900_000_000,
    },
  },
  {
    file: 'passkey-options',
    schema: passkeyOptionsSchema,
    answer: account.passkeyOptions,
    sample: { options: { challenge: 'AAAA' } },
  },
  {
    file: 'totp-set-up',
    schema: totpSetUpSchema,
    answer: account.totpSetUp,
    sample: { secret: 'JBSWY3DP', uri: 'otpauth://totp/Robo?secret=JBSWY3DP' },
  },
  {
    file: 'profile',
    schema: profileSchema,
    answer: account.profile,
    sample: {
      userId: uuid,
      username: `user_${uuid}`,
      email: 'maren.holt@example.com',
      emailVerified: true,
      givenName: 'Maren',
      familyName: 'Holt',
      birthdate: '1988-04-12',
      phoneNumber: '+16175550123',
      phoneNumberVerified: false,
      address: '14 Alder Way, Cambridge, MA 02139',
      mfa: { enabled: ['TOTP'], preferred: 'TOTP' },
      passkeys: [{ id: 'k1', name: 'This laptop', createdAt: time }],
      devices: [{ key: 'd1', name: 'Firefox', lastUsedAt: time, current: true, remembered: false }],
    },
  },
  ...[
    { step: 'DONE' },
    { step: 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED', missingAttributes: ['family_name'] },
    { step: 'CONFIRM_SIGN_IN_WITH_SMS_CODE', delivery: { medium: 'SMS', destination: '+*******1234' } },
    { step: 'CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE', parameters: { question: '1 + 1' } },
    { step: 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION', choices: ['TOTP', 'SMS'] },
    { step: 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION', choices: ['PASSWORD', 'WEB_AUTHN'] },
    { step: 'CONFIRM_SIGN_IN_WITH_PASSKEY', options: { challenge: 'AAAA' } },
  ].map((sample) => ({
    file: 'sign-in-step',
    schema: signInStepSchema,
    answer: account.knownSignInStep,
    sample,
  })),
]

/** String formats are the server's concern; the browser checks the shape. */
const shapeOf = (schema: z.ZodType) =>
  z.toJSONSchema(schema, {
    override: ({ jsonSchema }) => {
      for (const key of ['$schema', 'propertyNames', 'description', 'format', 'pattern'] as const)
        delete jsonSchema[key]
      if (!Object.keys(jsonSchema.additionalProperties ?? {}).length) delete jsonSchema.additionalProperties
      // Implied by `integer` here.
      if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
      if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
      if (jsonSchema.oneOf) {
        // Discriminated by name, so that at most one matches.
        jsonSchema.anyOf = jsonSchema.oneOf
        delete jsonSchema.oneOf
      }
    },
  })

const checkedKeywords = new Set([
  'type',
  'properties',
  'required',
  'items',
  'additionalProperties',
  'enum',
  'const',
  'anyOf',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
])

function keywordsOf(shape: Shape): string[] {
  const inner = [
    ...Object.values(shape.properties ?? {}),
    ...(shape.items ? [shape.items] : []),
    ...(shape.additionalProperties ? [shape.additionalProperties] : []),
    ...(shape.anyOf ?? []),
  ]
  return [...Object.keys(shape), ...inner.flatMap(keywordsOf)]
}

type Path = (string | number)[]
function pathsOf(value: unknown, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path]
  return [
    path,
    ...Object.entries(value).flatMap(([key, inner]) =>
      pathsOf(inner, [...path, Array.isArray(value) ? Number(key) : key]),
    ),
  ]
}

function changed(
  sample: object,
  path: Path,
  change: (parent: Record<string | number, unknown>, key: string | number) => void,
): unknown {
  const root = { sample: structuredClone(sample) }
  const full: Path = ['sample', ...path]
  let parent = root as Record<string | number, unknown>
  for (const key of full.slice(0, -1)) parent = parent[key] as Record<string | number, unknown>
  change(parent, full.at(-1) ?? '')
  return root.sample
}

describe.each(cases)('the answer $file', ({ file, schema, answer, sample }) => {
  it('is checked by the shape that the contract has now', async () => {
    const { $schema: _, ...shape } = shapeOf(schema)
    await expect(`${JSON.stringify(shape)}\n`).toMatchFileSnapshot(`./answers/${file}.json`)
    expect(new Set(keywordsOf(shape as Shape)).difference(checkedKeywords)).toEqual(new Set())
  })

  it('takes what the contract takes', () => {
    expect(schema.safeParse(sample).success).toBe(true)
    expect(answer.safeParse(sample)).toEqual({ success: true, data: sample })
  })

  it('refuses what the contract refuses, wherever it is broken', () => {
    const values = fc.constantFrom<unknown>(null, -1, 1.5, true, [], {}, [null])
    fc.assert(
      fc.property(fc.constantFrom(...pathsOf(sample)), fc.option(values, { nil: 'remove' }), (path, value) => {
        const broken = changed(sample, path, (parent, key) => {
          if (value === 'remove' && typeof key === 'string') delete parent[key]
          else parent[key] = value
        })
        expect(answer.safeParse(broken).success).toBe(schema.safeParse(broken).success)
      }),
    )
  })
})

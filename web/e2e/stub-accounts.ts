import type { Profile, SignInStep } from '@robokids/contracts/auth'
import type { Membership, MembershipPlans } from '@robokids/contracts/billing'
import type { Dashboard, DashboardPast } from '@robokids/contracts/dashboard'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/membership'
import { sampleDashboard } from '../src/dashboard/sample-dashboard.ts'
import type { Answer, Call } from './stub-api.ts'

export const maren = {
  userId: '019a0000-0000-7000-8000-0000000000a1',
  username: 'user_019a0000-0000-7000-8000-0000000000a1',
  email: 'maren.holt@example.com',
}

export function sampleProfile(changes: Partial<Profile> = {}): Profile {
  return {
    ...maren,
    emailVerified: true,
    givenName: 'Maren',
    familyName: 'Holt',
    birthdate: '1988-04-12',
    phoneNumber: '+16175550123',
    phoneNumberVerified: false,
    address: '14 Alder Way, Cambridge, MA 02139',
    mfa: { enabled: [], preferred: null },
    passkeys: [{ id: 'key-1', name: 'Maren’s laptop', createdAt: '2026-09-01T10:00:00.000Z' }],
    devices: [
      {
        key: 'device-1',
        name: 'Firefox on Linux',
        lastUsedAt: '2026-11-20T10:00:00.000Z',
        current: true,
        remembered: false,
      },
      {
        key: 'device-2',
        name: 'Safari on iPhone',
        lastUsedAt: '2026-10-02T10:00:00.000Z',
        current: false,
        remembered: true,
      },
    ],
    ...changes,
  }
}

/** One sign-in step of each kind. */
export const sampleSteps: SignInStep[] = [
  { step: 'CONFIRM_SIGN_UP' },
  { step: 'RESET_PASSWORD' },
  { step: 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED', missingAttributes: ['given_name'] },
  { step: 'CONFIRM_SIGN_IN_WITH_TOTP_CODE' },
  { step: 'CONFIRM_SIGN_IN_WITH_SMS_CODE', delivery: { medium: 'SMS', destination: '+*******0123' } },
  { step: 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE', delivery: { medium: 'EMAIL', destination: 'm***@e***' } },
  { step: 'CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE', parameters: { question: 'What is the robot called?' } },
  { step: 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION', choices: ['TOTP', 'SMS', 'EMAIL'] },
  { step: 'CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION', choices: ['TOTP', 'EMAIL'] },
  {
    step: 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP',
    secret: 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP',
    uri: 'otpauth://totp/Robo%20Kids%20Learning:maren.holt%40example.com?secret=JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP&issuer=Robo%20Kids%20Learning',
  },
  { step: 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP' },
  {
    step: 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION',
    choices: ['PASSWORD', 'PASSWORD_SRP', 'EMAIL_OTP', 'SMS_OTP', 'WEB_AUTHN'],
  },
  { step: 'CONFIRM_SIGN_IN_WITH_PASSWORD' },
  { step: 'CONFIRM_SIGN_IN_WITH_PASSKEY', options: { challenge: 'AAAAAAAAAAAAAAAAAAAAAA', rpId: 'localhost' } },
  { step: 'UNKNOWN', name: 'MAP_CHALLENGE' },
]

const code = { delivery: { medium: 'EMAIL', destination: 'm***@e***' } }

const signInRequired = { status: 401, json: { code: 'sign_in_required', message: 'Please log in.', requestId: 'stub' } }

/** The BFF's account routes with successful responses; undefined for other paths. */
export class StubAccounts {
  user: typeof maren | null = null
  profile = sampleProfile()
  slots = [
    { classDate: '2030-01-04', availableSlots: 7, startTime: '16:00' },
    { classDate: '2030-01-05', availableSlots: 0, startTime: '16:00' },
    { classDate: '2030-01-06', availableSlots: 10, startTime: '16:00' },
    { classDate: '2030-01-07', availableSlots: 10, startTime: '16:00' },
  ]

  /** A family that has bought nothing yet. */
  dashboard: Dashboard = sampleDashboard({ classes: { cards: [], memberClasses: [], past: 0, lastFinished: null } })
  past: DashboardPast = { cards: [], orders: [] }
  membership: Membership | null = null
  /** Further active memberships. */
  others: Membership[] = []
  plans: MembershipPlans['plans'] = (
    [
      ['monthly', 700],
      ['yearly', 6_000],
    ] as const
  ).map(([plan, amount]) => {
    const price = { amount, currency: 'usd' as const }
    return { plan, ...price, termsVersion: renewalTermsVersion, terms: renewalTerms(plan, price) }
  })

  answer(route: string, { body }: Call, host: string): Answer | undefined {
    switch (route) {
      case 'GET /api/dashboard':
        return this.user ? { json: this.dashboard } : signInRequired
      case 'GET /api/dashboard/past':
        return this.user ? { json: this.past } : signInRequired
      case 'GET /api/membership-plans':
        return { json: { plans: this.plans } }
      case 'GET /api/membership':
        return { json: { membership: this.membership, others: this.others } }
      case 'POST /api/membership/cancel':
        return this.#change(body, (one) => ({ ...one, endsAt: one.paidUntil, nextCharge: null }))
      case 'POST /api/membership/resume':
        return this.#change(body, (one) => ({
          ...one,
          endsAt: null,
          nextCharge: { at: one.paidUntil, amount: one.amount, currency: one.currency },
        }))
      case 'GET /api/availableSlots':
        return { json: { slots: this.slots } }
      case 'POST /api/createStripeSession':
        return { json: { url: `http://${host}/card-page` } }
      case 'GET /api/auth/session':
        return { json: { user: this.user } }
      case 'POST /api/auth/sign-up':
        return { json: { ...code, confirmed: false } }
      case 'POST /api/auth/confirm-sign-up':
        return { json: { signedIn: false } }
      case 'POST /api/auth/auto-sign-in':
        return { json: { step: 'waiting' } }
      case 'POST /api/auth/resend-code':
      case 'POST /api/auth/forgot-password':
      case 'POST /api/profile/verification':
        return { json: code }
      case 'POST /api/auth/sign-in':
      case 'POST /api/auth/sign-in-again':
      case 'POST /api/auth/sign-in/answer':
        this.user = maren
        return { json: { step: 'DONE' } }
      case 'POST /api/auth/sign-out':
        this.user = null
        return { json: {} }
      case 'POST /api/auth/confirm-forgot-password':
      case 'POST /api/auth/change-password':
        return { json: {} }
      case 'POST /api/profile/totp':
        return { json: { secret: 'JBSWY3DPEHPK3PXP', uri: 'otpauth://totp/Robo?secret=JBSWY3DPEHPK3PXP' } }
      case 'GET /api/profile':
      case 'PATCH /api/profile':
      case 'POST /api/profile/verification/confirm':
      case 'POST /api/profile/mfa':
      case 'POST /api/profile/totp/verify':
      case 'POST /api/profile/passkeys':
      case 'DELETE /api/profile/passkeys/:id':
      case 'POST /api/profile/devices/:key':
      case 'DELETE /api/profile/devices/:key':
        if (!this.user) return signInRequired
        if (route === 'PATCH /api/profile') this.profile = { ...this.profile, ...body }
        return { json: this.profile }
      case 'DELETE /api/profile':
        this.user = null
        return { json: {} }
      default:
        return undefined
    }
  }
  #change({ membershipId }: Call['body'], change: (membership: Membership) => Membership): Answer {
    const known = [...(this.membership ? [this.membership] : []), ...this.others]
    const meant = known.find((one) => membershipId === undefined || one.membershipId === membershipId)
    if (!meant) return { status: 404, json: { code: 'membership_not_found', message: 'None.', requestId: 'stub' } }
    const changed = change(meant)
    const now = (one: Membership) => (one === meant ? changed : one)
    this.membership = this.membership && now(this.membership)
    this.others = this.others.map(now)
    return { json: changed }
  }
}

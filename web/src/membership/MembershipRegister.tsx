import { latestAdultBirthdate } from '@robokids/contracts/adult'
import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { MembershipPlan, Session } from '@robokids/contracts/auth'
import type { MembershipPlans } from '@robokids/contracts/billing'
import { formatDay } from '@robokids/contracts/class-date'
import { membershipTerms } from '@robokids/contracts/offers'
import { renewalTerms, renewalTermsVersion } from '@robokids/contracts/renewal-terms'
import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { weakPassword } from '../account/NewPasswordFields.tsx'
import { isPasswordGood, PasswordChecklist } from '../account/PasswordChecklist.tsx'
import {
  type MemberValues,
  noValues,
  type PendingUser,
  readMemberDraft,
  saveMemberDraft,
  savePendingUser,
} from '../account/pending-user.ts'
import { useUser } from '../account/use-user.ts'
import { api } from '../api/api.ts'
import { isRefusal, messageOf } from '../api/refusals.ts'
import { useClientState } from '../browser/use-client-state.ts'
import { useHydrated } from '../browser/use-hydrated.ts'
import { HoldNote } from '../checkout/HoldNote.tsx'
import { PayBar } from '../checkout/PayBar.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { DateCards } from '../classes/DateCards.tsx'
import type { FieldErrors } from '../forms/field-errors.ts'
import { Form, Problems } from '../forms/Form.tsx'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useForm } from '../forms/use-form.ts'
import { prepareProof } from '../proof-of-work/proven.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Details } from '../ui/Details.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { membershipSteps, planInShort, planNames, planNote } from './membership-texts.ts'
import styles from './MembershipRegister.module.css'
import { amountOf, plansQuery } from './plans-query.ts'
import type { Member } from './read-member.ts'
import { availableSlots } from './register-answers.ts'
import { membershipCheckout, pendingUserOf, signUpOnce } from './register-member.ts'

const termsMissing = 'The terms could not be loaded. Please try again in a moment.'

/** The text of terms: the server's, or ours if the version is the same. Undefined otherwise. */
function wordsOf({ renewal, termsVersion }: AgreementTerms, known: MembershipPlans | undefined): string | undefined {
  if (!renewal) return undefined
  const { plan, amount } = renewal
  const told = known?.plans.find(
    (one) => one.plan === plan && one.amount === amount && one.termsVersion === termsVersion,
  )
  if (told) return told.terms
  return termsVersion === renewalTermsVersion ? renewalTerms(plan, { amount, currency: 'usd' }) : undefined
}

const slotsQuery = queryOptions({
  queryKey: ['available-slots'],
  queryFn: ({ signal }) => api('/api/availableSlots', { answer: availableSlots, signal }),
  staleTime: 5_000,
})

/** The validation is loaded when the user starts typing. */
const loadChecks = () => import('./read-member.ts')

const isPlan = (plan: string | undefined): plan is MembershipPlan => planNames.some((one) => one === plan)

const fieldsInOrder = [
  'classDate',
  'given_name',
  'family_name',
  'email',
  'password',
  'confirmPassword',
  'birthdate',
  'phone_number',
  'street',
  'city',
  'state',
  'zip',
  'consent',
]

export function MembershipRegister() {
  const user = useUser()
  return (
    <div className={styles.page}>
      <header className={styles.head}>
        <h1>Create Your ChronoTech Account</h1>
        <p className={styles.soft}>
          <span>You register as the parent or guardian.</span>{' '}
          {user ? (
            <span>
              Your account is <Link to="/profile">on your profile</Link>.
            </span>
          ) : (
            <span>
              Already have an account? <Link to="/membership/login">Log in</Link>.
            </span>
          )}
        </p>
      </header>
      <div className={styles.columns}>
        <RegistrationForm user={user} />
        <aside className={styles.aside} aria-labelledby="next-heading">
          <h2 id="next-heading">What happens next</h2>
          <ol className={styles.steps}>
            {membershipSteps.map((text) => (
              <li key={text}>{text}</li>
            ))}
          </ol>
        </aside>
      </div>
    </div>
  )
}

function useSlots() {
  const { data, error, isPending, isFetching, refetch } = useQuery(slotsQuery)
  useEffect(() => {
    // oxlint-disable-next-line no-console -- as specified: only logged, and the list stays empty
    if (error) console.error('Could not fetch available slots', error)
  }, [error])
  return { slots: data?.slots ?? [], isPending, isFetching, refetch }
}

/** The details of the account that was created, read-only: changes here would not reach it. */
function AccountDetails({ made }: { made: PendingUser }) {
  return (
    <>
      <Details
        rows={[
          ['Name', asWritten(`${made.given_name} ${made.family_name}`)],
          ['Birthdate', formatDay(made.birthdate)],
          ['Phone', made.phone_number],
          ['Address', asWritten(made.address)],
        ]}
      />
      <p className={styles.soft}>Once you are a member, you can change this on your profile.</p>
    </>
  )
}

/** A rejected attempt that offers a way to proceed. */
interface Refused {
  way: Way
  member: Member | null
  agreed: AgreementTerms
  /** The text of the terms that are offered now. */
  words: string
}

/** A signed-in user only chooses the membership, which is for their account. */
function RegistrationForm({ user }: { user: Session['user'] }) {
  const { plan: linkedPlan } = useSearch({ from: '/membership/register' })
  const [draft, setDraft] = useClientState<MemberValues>(noValues, () => {
    const stored = readMemberDraft()
    return isPlan(linkedPlan) ? { ...stored, plan: linkedPlan } : stored
  })
  // Passwords are never stored in a draft.
  const [passwords, setPasswords] = useState({ password: '', confirmPassword: '' })
  const [shown, setShown] = useState(false)
  const made = user ? undefined : pendingUserOf(draft.email)
  const accountMade = user !== null || made !== undefined
  function keep({ password, confirmPassword, ...next }: MemberValues & typeof passwords) {
    setPasswords({ password, confirmPassword })
    setDraft(next)
    saveMemberDraft(next)
    loadChecks().catch(() => undefined)
    if (!accountMade) prepareProof('sign-up')
    prepareProof('membership')
  }
  const decoy = useRef<HTMLInputElement>(null)
  const [latestBirthdate] = useClientState('', () => latestAdultBirthdate(new Date().toISOString()))
  const form = useForm([{ ...draft, ...passwords }, keep], 'Something went wrong.')
  const { values, change, field } = form
  const { password, confirmPassword } = passwords
  const { leaving, leaveFor } = useExternalRedirect()
  const { slots, isPending, isFetching, refetch } = useSlots()
  const prices = useQuery({ ...plansQuery, enabled: useHydrated() })
  const terms = prices.data?.plans.find(({ plan }) => plan === values.plan)
  // The user agreed to this exact text.
  const [agreedTo, setAgreedTo] = useState<string>()
  const agreed = terms !== undefined && agreedTo === terms.terms
  const [refused, setRefused] = useState<Refused | null>(null)
  const [memberAlready, setMemberAlready] = useState(false)
  const proceedButton = useRef<HTMLButtonElement>(null)

  const chosen = slots.some(
    ({ classDate, availableSlots: left }) => classDate === values.classDate && (left > 0 || accountMade),
  )
  const passwordType = shown ? 'text' : 'password'

  const readForm = async (): Promise<{ member: Member | null } | { errors: FieldErrors }> => {
    if (user) return { member: null }
    if (made) return { member: made }
    const { readMember } = await importOrReload(loadChecks)
    return readMember(draft, new Date())
  }

  const check = async () => {
    const read = await readForm()
    const errors: Record<string, string> = 'errors' in read ? { ...read.errors } : {}
    if (!accountMade && password === '') errors['password'] = 'Password is required.'
    if (!chosen) errors['classDate'] = 'Choose a class date.'
    if (terms && !agreed) errors['consent'] = 'Please agree to the terms of the membership.'
    if (!accountMade && password !== confirmPassword) {
      form.showError("❌ Passwords don't match.", { ...errors, confirmPassword: 'Type the same password here.' })
    } else if (!accountMade && password !== '' && !isPasswordGood(password)) {
      form.showError(weakPassword, { ...errors, password: 'Choose a password that follows the rules below.' })
    } else if ('errors' in read || Object.keys(errors).length > 0) {
      form.showError('Please check the marked fields.', errors)
    } else if (!terms) {
      form.showError(termsMissing)
      void prices.refetch()
    } else {
      const { plan, classDate } = values
      const shown = membershipTerms({ plan, amount: terms.amount, classDate, termsVersion: terms.termsVersion })
      await proceed(read.member, shown, terms.terms)
    }
  }

  /** @param member null for a signed-in user */
  const proceed = async (member: Member | null, agreed: AgreementTerms, words: string) => {
    const { plan, classDate } = values
    const payer = member
      ? await signUpOnce(member, password, { plan, classDate })
      : { email: user?.email ?? '', plan, classDate }
    const consent = { version: agreed.termsVersion ?? '', text: words }
    try {
      const { url, message } = await membershipCheckout(payer, consent, agreed)
      if (message) form.showSuccess(message)
      leaveFor(url)
    } catch (error) {
      if (isRefusal(error, 'already_member')) {
        setMemberAlready(user !== null)
        if (user) throw new Error('You already have a membership, or its payment is being processed.', { cause: error })
        if ('signedUpAt' in payer) savePendingUser({ ...payer, isMember: true })
      }
      if (isRefusal(error, 'terms_changed')) {
        setAgreedTo(undefined)
        const { data } = await prices.refetch()
        const way = wayOnFrom(error)
        if (way?.kind === 'agree') return goOnWith(way, wordsOf(way.agreement.terms, data), member, agreed)
      }
      throw messageOf(error, '') ? error : new Error('Stripe error', { cause: error })
    }
  }

  const goOnWith = (way: Way, words: string | undefined, member: Member | null, agreed: AgreementTerms) => {
    if (words === undefined) form.showError(termsMissing)
    else setRefused({ way, member, agreed, words })
  }

  const submit = () => {
    // Hidden from people: only bots fill it in.
    if (decoy.current?.value || leaving) return
    form.submit(check)
  }

  return (
    <div className={styles.sheet}>
      <Form message={form.message} onSubmit={submit}>
        <Problems errors={form.errors} order={fieldsInOrder} />
        {made && !made.isMember && (
          <Notice title="Your account is ready.">
            <p>Only the payment is left. To use another email, change it below.</p>
          </Notice>
        )}
        {made?.isMember && (
          <Notice title="This email already has a membership.">
            <p>
              It is on <Link to="/profile">your profile</Link>. For a second one, use another email.
            </p>
          </Notice>
        )}
        {user && (
          <Notice title={`You’re logged in as ${user.email}.`}>
            {memberAlready ? (
              <p>
                Your membership is on <Link to="/profile">your profile</Link>.
              </p>
            ) : (
              <p>The membership is for this account. To use another one, log out first.</p>
            )}
          </Notice>
        )}
        <fieldset className={styles.group}>
          <legend>Your membership</legend>
          <div className={styles.plans} role="radiogroup" aria-label="Membership plan">
            {planNames.map((plan) => (
              <label key={plan} className={styles.plan}>
                <input
                  type="radio"
                  name="plan"
                  value={plan}
                  checked={values.plan === plan}
                  onChange={() => {
                    // Each plan has its own terms.
                    setAgreedTo(undefined)
                    change({ plan })
                  }}
                />
                <strong>{planInShort(plan, amountOf(plan, prices.data))}</strong>
                <span className={styles.soft}>{planNote(plan, amountOf(plan, prices.data))}</span>
              </label>
            ))}
          </div>
          <DateCards
            label="Class date"
            hint="Select a date: you get a seat in its members’ session."
            name="classDate"
            error={form.errors['classDate']}
            dates={
              isPending
                ? undefined
                : slots.map(({ classDate, startTime, availableSlots: seatsLeft }) => ({
                    date: classDate,
                    startTime,
                    seatsLeft,
                    // The created account may hold a seat already.
                    held: accountMade,
                  }))
            }
            value={values.classDate}
            onChoose={(classDate) => {
              change({ classDate })
            }}
          />
          {slots.length === 0 && !isPending && (
            <div className={styles.empty}>
              <span className={styles.soft}>No dates are available right now.</span>
              <Button
                variant="secondary"
                onClick={() => void refetch()}
                pending={isFetching}
                pendingLabel="Checking..."
              >
                Check again
              </Button>
            </div>
          )}
        </fieldset>

        {!user && (
          <>
            <fieldset className={styles.group}>
              <legend>You</legend>
              {!made && (
                <div className={styles.pair}>
                  <Field {...field('given_name')} label="First name" autoComplete="given-name" required />
                  <Field {...field('family_name')} label="Last name" autoComplete="family-name" required />
                </div>
              )}
              <Field
                {...field('email')}
                label="Email"
                hint="You log in with it, and we email your confirmation code there."
                type="email"
                inputMode="email"
                autoComplete="username"
                autoCapitalize="none"
                spellCheck={false}
                required
              />
              {made && <AccountDetails made={made} />}
              {!accountMade && (
                <>
                  <Field
                    {...field('password')}
                    label="Password"
                    type={passwordType}
                    autoComplete="new-password"
                    autoCapitalize="none"
                    spellCheck={false}
                    required
                  />
                  <PasswordChecklist password={password} />
                  <Field
                    {...field('confirmPassword')}
                    label="Confirm password"
                    type={passwordType}
                    autoComplete="new-password"
                    autoCapitalize="none"
                    spellCheck={false}
                    required
                  />
                  <Checkbox
                    label="Show password"
                    checked={shown}
                    onChange={(event) => setShown(event.target.checked)}
                  />
                </>
              )}
              {!made && (
                <div className={styles.pair}>
                  <Field
                    {...field('birthdate')}
                    label="Birthdate"
                    hint="You must be 18 or older."
                    type="date"
                    max={latestBirthdate}
                    autoComplete="bday"
                    required
                  />
                  <Field
                    {...field('phone_number')}
                    label="Phone number"
                    hint="It must be verified later, from your profile page."
                    type="tel"
                    inputMode="tel"
                    autoComplete="tel"
                    required
                  />
                </div>
              )}
              <div className={styles.decoy} aria-hidden="true">
                <label>
                  Middle name
                  {/* Password managers fill in known names, but not read-only fields, or those marked as not for them. */}
                  <input
                    ref={decoy}
                    type="text"
                    name="middle_name"
                    tabIndex={-1}
                    autoComplete="off"
                    readOnly
                    data-1p-ignore=""
                    data-bwignore=""
                    data-lpignore="true"
                    data-form-type="other"
                    data-protonpass-ignore="true"
                  />
                </label>
              </div>
            </fieldset>

            {!made && (
              <fieldset className={styles.group}>
                <legend>Your address</legend>
                <Field {...field('street')} label="Street" autoComplete="address-line1" required />
                <div className={styles.place}>
                  <Field {...field('city')} label="City" autoComplete="address-level2" required />
                  <Field {...field('state')} label="State" autoComplete="address-level1" required />
                  <Field
                    {...field('zip')}
                    label="ZIP"
                    inputMode="numeric"
                    autoComplete="postal-code"
                    maxLength={10}
                    required
                  />
                </div>
              </fieldset>
            )}
          </>
        )}

        <div className={styles.end}>
          <Checkbox
            label={terms ? `I agree: ${terms.terms}` : prices.isError ? termsMissing : 'The terms are being loaded.'}
            name="consent"
            checked={agreed}
            onChange={(event) => {
              form.clearError('consent')
              setAgreedTo(event.target.checked ? terms?.terms : undefined)
            }}
            disabled={!terms}
            error={form.errors['consent']}
          />
          <HoldNote />
          <p className={styles.soft}>You won’t be charged until you confirm on the card page.</p>
        </div>
        <PayBar
          total={
            <>
              <span>Due today</span>
              <strong>{planInShort(values.plan, amountOf(values.plan, prices.data))}</strong>
            </>
          }
        >
          <Button ref={proceedButton} type="submit" pending={form.pending || leaving}>
            Proceed to Payment
          </Button>
        </PayBar>
      </Form>
      <WayOn
        from="form"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(now) => {
          setRefused(null)
          if (!refused) return
          setAgreedTo(refused.words)
          form.submit(() => proceed(refused.member, now, refused.words))
        }}
        onClose={() => {
          setRefused(null)
          // After the dialog has returned the focus: the button was disabled when the dialog opened.
          setTimeout(() => proceedButton.current?.focus())
        }}
      >
        <p>{`I agree: ${refused?.words}`}</p>
      </WayOn>
    </div>
  )
}

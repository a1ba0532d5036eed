import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { formatMeetingDates } from '@robokids/contracts/meeting-dates'
import { registrationTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { ApiError } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { HoldNote } from '../checkout/HoldNote.tsx'
import { PayBar } from '../checkout/PayBar.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { type LevelOffer, seatsLeftText, totalOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { DateCards } from '../classes/DateCards.tsx'
import { WaitLink } from '../classes/WaitLink.tsx'
import { errorsByField, type FieldErrors } from '../forms/field-errors.ts'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof } from '../proof-of-work/proven.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { CheckFields } from '../ui/CheckFields.tsx'
import { DisabledUntilHydrated } from '../ui/DisabledUntilHydrated.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { AddressFields } from './AddressFields.tsx'
import { ChildrenFields } from './ChildrenFields.tsx'
import { mayHoldSeats } from './draft.ts'
import { registrationAlert } from './failure.ts'
import { recordOfContent, saveRecords } from './record.ts'
import { register } from './register.ts'
import type { RegistrationContent } from './registration-content.ts'
import { fieldsInOrder } from './sign-up-fields.ts'
import type { SignUpValues } from './sign-up-values.ts'
import styles from './SignUpForm.module.css'
import { useSignUpValues } from './use-sign-up-values.ts'

const idOf = (field: string) => `sign-up-${field.replaceAll('.', '-')}`

function focusField(field: string) {
  document.getElementById(idOf(field))?.focus()
}

/** The validation is as large as the form, and loaded when the user starts typing. */
const loadChecks = () => import('./read-content.ts')

/** A rejected attempt that offers a way to proceed. */
interface Refused {
  way: Way
  content: RegistrationContent
  agreed: AgreementTerms | undefined
}

interface SignUpFormProps {
  classType: LevelClassType
  /** Undefined while loading, and when that fails. */
  offer: LevelOffer | undefined
  /** Loading failed. */
  failed: boolean
}

export function SignUpForm({ classType, offer, failed }: SignUpFormProps) {
  // Each level has its own address.
  const { startDate: linkedDate } = useSearch({ strict: false })
  const { values, family, keep, clearStoredDraft } = useSignUpValues(linkedDate)
  const { pending, message, errors, showError, clearError, submit } = useSubmit('Something went wrong.')
  /** How often it was not sent because of invalid fields. */
  const [refusals, setRefusals] = useState(0)
  const [refused, setRefused] = useState<Refused | null>(null)
  /** The date that filled up while the form was filled in. */
  const [filledUp, setFilledUp] = useState<string | null>(null)
  const { leaving, leaveFor } = useExternalRedirect()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const submitButton = useRef<HTMLButtonElement>(null)

  const chosen = offer?.sessions.find(({ date }) => date === values.startDate)
  const busy = pending || leaving
  const count = values.children.length
  const total = offer && totalOf(offer, count)
  const tooFew =
    chosen !== undefined &&
    chosen.seatsLeft > 0 &&
    chosen.seatsLeft < count &&
    !mayHoldSeats(classType, values.startDate)

  const change = (changes: Partial<SignUpValues>, ...fields: string[]) => {
    keep({ ...values, ...changes })
    loadChecks().catch(() => undefined)
    prepareProof('registration')
    clearError(...fields)
  }

  const point = (found: FieldErrors) => {
    const first = fieldsInOrder(values.children.length).find((field) => found[field])
    flushSync(() => {
      showError(null, found)
      setRefusals((before) => before + 1)
    })
    if (first) focusField(first)
  }

  /** Validates the date against those on sale. The seats of the family's own earlier attempt do not count. */
  const dateError = (): string | undefined => {
    if (!offer) return undefined
    if (!chosen) return 'Choose a date.'
    if (chosen.seatsLeft >= values.children.length || mayHoldSeats(classType, values.startDate)) return undefined
    if (chosen.seatsLeft === 0) return 'This date is full. Choose another one.'
    return `This date has ${seatsLeftText(chosen.seatsLeft)}, and you are registering ${values.children.length} children. Choose another one.`
  }

  const send = async (content: RegistrationContent, agreed: AgreementTerms | undefined) => {
    try {
      const answer = await register(content, agreed)
      clearStoredDraft()
      if (answer.next === 'confirmation') {
        await navigate({ to: '/robokids/success', search: { reference: answer.registrationId } })
        return
      }
      saveRecords(recordOfContent(answer.registrationId, content))
      leaveFor(answer.checkoutUrl)
    } catch (error) {
      const way = wayOnFrom(error)
      if (way) setRefused({ way, content, agreed })
      else reject(error)
      setFilledUp(isRefusal(error, 'class_full') ? content.startDate : null)
      // Seats and prices may have changed.
      void queryClient.invalidateQueries(classesQuery)
    }
  }

  const reject = (error: unknown) =>
    showError(registrationAlert(error), error instanceof ApiError ? errorsByField(error.issues) : {})

  const once = (work: () => Promise<void>) => {
    if (!leaving) submit(() => work().catch(reject))
  }

  const checkAndSend = async () => {
    const { readContent } = await importOrReload(loadChecks)
    const read = readContent(values, classType)
    const found: Record<string, string> = 'errors' in read ? { ...read.errors } : {}
    const date = dateError()
    if (date) found['startDate'] ??= date
    if ('errors' in read || date) point(found)
    else await send(read.content, offer && termsOf(offer, read.content))
  }

  const chooseDate = (startDate: string) => {
    change({ startDate }, 'startDate')
    // The linked date is no longer selected.
    if (linkedDate) void navigate({ to: '.', search: {}, replace: true, resetScroll: false })
  }

  const backToForm = () => {
    const first = fieldsInOrder(values.children.length).find((field) => errors[field])
    // Keep the errors of the fields.
    showError(null, errors)
    setRefused(null)
    // After the dialog has returned the focus: the button was disabled when the dialog opened.
    setTimeout(() => (first ? focusField(first) : submitButton.current?.focus()))
  }

  const field = (name: string) => ({ id: idOf(name), name, error: errors[name] })
  const text = (name: Exclude<keyof SignUpValues, 'children' | 'startDate'>) => ({
    ...field(name),
    value: values[name],
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }, name),
  })

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault()
        once(checkAndSend)
      }}

      noValidate
    >
      <DisabledUntilHydrated>
        <div className={styles.group}>
          <DateCards
            {...field('startDate')}
            label="Start date"
            hint="Select a date for the program to start."
            dates={offer ? datesOf(offer, classType) : failed ? [] : undefined}
            {...(offer ? { length: offer.programLength } : {})}
            value={values.startDate}
            onChoose={chooseDate}
            waitlistOf={classType}
          />
          {chosen && <AllDates {...chosen} />}
          {tooFew && chosen && (
            <p className={styles.aside}>
              <span>{`This date has ${seatsLeftText(chosen.seatsLeft)}, and you are registering ${count} children.`}</span>{' '}
              <WaitLink classType={classType} startDate={chosen.date} />
            </p>
          )}
          {offer?.sessions.length === 0 && (
            <p className={styles.aside}>No dates are open right now. Please come back soon.</p>
          )}
        </div>

        <fieldset className={styles.group}>
          <legend>You</legend>
          <Field
            {...text('guardianName')}
            label="Guardian name"
            hint="The parent or guardian, 18 or older."
            autoComplete="name"
            required
          />
          <Field
            {...text('email')}
            label="Email"
            hint="We send the confirmation and class link here."
            type="email"
            inputMode="email"
            autoComplete="email"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        </fieldset>

        <AddressFields field={text} />

        <ChildrenFields
          offer={offer}
          values={values.children}
          family={family}
          errors={errors}
          idOf={idOf}
          onChange={(children, ...fields) => change({ children }, ...fields)}
        />

        <div className={styles.end}>
          {errors['siblings'] && <Notice kind="error">{errors['siblings']}</Notice>}
          <HoldNote />
          <p className={styles.aside}>You won’t be charged until you confirm on the card page.</p>
        </div>
        <PayBar
          total={
            offer || !failed ? (
              <>
                <span>{`Total for ${count === 1 ? '1 child' : `${count} children`}`}</span>
                <strong>{total ? formatMoney(total.total) : <Skeleton width="6ch" />}</strong>
              </>
            ) : (
              <span>Shown before you pay</span>
            )
          }
          saving={
            total &&
            total.free > 0 &&
            `${total.free === 1 ? 'One sibling joins free' : `${total.free} siblings join free`}: you save ${formatMoney(total.saved)}`
          }
        >
          <Button ref={submitButton} type="submit" pending={busy}>
            Continue to payment
          </Button>
        </PayBar>
      </DisabledUntilHydrated>
      <CheckFields refused={refusals} />
      <Alert
        message={message?.text ?? null}
        action={
          filledUp !== null && (
            <ButtonLink to="/waitlist" search={{ classType, startDate: filledUp }}>
              Join the waitlist
            </ButtonLink>
          )
        }
        onClose={backToForm}
      />
      <WayOn
        from="form"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(terms) => {
          setRefused(null)
          if (refused) once(() => send(refused.content, terms))
        }}
        onClose={backToForm}
      />
    </form>
  )
}

/** All dates of the program that begins on the chosen one. */
function AllDates({ meetings = [], durationMinutes }: LevelOffer['sessions'][number]) {
  if (meetings.length < 2) return null
  return (
    <output className={styles.aside}>
      {`${meetings.length} classes of ${durationMinutes} minutes: ${formatMeetingDates(meetings)}.`}
    </output>
  )
}

/** The dates on sale; a full date can be chosen if this form may hold its seats. */
const datesOf = ({ sessions }: LevelOffer, classType: LevelClassType) =>
  sessions.map(({ date, startTime, seatsLeft, familiesWaiting }) => ({
    date,
    startTime,
    seatsLeft,
    familiesWaiting,
    held: seatsLeft === 0 && mayHoldSeats(classType, date),
  }))

/** The displayed terms, which the user agrees to by continuing. */
function termsOf({ price, siblingJoinsFree }: LevelOffer, { classType, startDate, siblings }: RegistrationContent) {
  const children = 1 + siblings.length
  return registrationTerms({ classType, startDate, children, siblingJoinsFree, unitAmount: price.amount })
}

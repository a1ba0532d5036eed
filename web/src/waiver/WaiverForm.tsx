import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ComponentProps, type FormEvent, useState } from 'react'
import { flushSync } from 'react-dom'
import { api, ApiError } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { Actions } from '../checkout/StatusPage.tsx'
import { errorsByField, type FieldErrors } from '../forms/field-errors.ts'
import { useForm } from '../forms/use-form.ts'
import { forgetDraft } from '../registration/draft.ts'
import { receiptOf, saveReceipt } from '../registration/kept-receipt.ts'
import { forgetRecords, isOfMember, type RegistrationRecord } from '../registration/record.ts'
import { classRow, familyRows, memberRows, startRow } from '../registration/registration-rows.tsx'
import { registrationQuery } from '../registration/use-registration.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { CheckFields } from '../ui/CheckFields.tsx'
import { Details } from '../ui/Details.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { waiverAnswer } from './answers.ts'
import { waiverAddress, waiverDocumentQuery } from './waiver-document.ts'
import { waiverPayload } from './waiver-payload.ts'
import styles from './WaiverForm.module.css'
import { WaiverText } from './WaiverText.tsx'

/** `signed before`: it had been signed already. */
export type Done = 'sent' | 'signed before'

/** Fields that a member's record may lack, and that the form then asks for. */
const memberFields = [
  { name: 'guardianName', label: 'Your full name', autoComplete: 'name' },
  { name: 'childName', label: "Child's first name", autoComplete: 'off' },
  { name: 'childAge', label: "Child's age", inputMode: 'numeric', autoComplete: 'off' },
] as const satisfies (ComponentProps<typeof Field> & { name: keyof RegistrationRecord })[]

const problem = 'There was a problem submitting the waiver. Please try again.'

const idOf = (field: string) => `waiver-${field}`

interface WaiverFormProps {
  record: RegistrationRecord
  startTime: string | undefined
  /** The signature of a membership that this one replaces. */
  replaces?: string | undefined
  /** Called with the record that was signed for. */
  onDone: (done: Done, signed: RegistrationRecord) => void
}

export function WaiverForm({ record: known, startTime, replaces, onDone }: WaiverFormProps) {
  const isMember = isOfMember(known)
  const form = useForm(useState({ guardianName: '', childName: '', childAge: '' }), problem)
  const { pending, message, showError, submit } = form
  /** How often it was not sent because of invalid fields. */
  const [refusals, setRefusals] = useState(0)
  const [agreed, setAgreed] = useState(false)
  /** The server's message about the last attempt. */
  const [refusal, setRefusal] = useState<string | null>(null)
  const queryClient = useQueryClient()
  const document = useQuery(waiverDocumentQuery)
  const asked = memberFields.filter(({ name }) => isMember && known[name] === '')
  const record = { ...known, ...Object.fromEntries(asked.map(({ name }) => [name, form.values[name]])) }
  const complete = (isMember || record.email !== '') && record.guardianName !== '' && record.classType !== ''

  const point = (found: FieldErrors) => {
    flushSync(() => {
      showError(null, found)
      setRefusals((before) => before + 1)
    })
    const first = asked.find(({ name }) => found[name])
    if (first) window.document.getElementById(idOf(first.name))?.focus()
  }

  const send = async () => {
    setRefusal(null)
    try {
      const { sha256 } = await queryClient.ensureQueryData(waiverDocumentQuery)
      await api('/api/waivers', { method: 'POST', body: waiverPayload(record, sha256, replaces), answer: waiverAnswer })
      finish(record)
      onDone('sent', record)
    } catch (error) {
      if (error instanceof ApiError && error.code === 'waiver_already_signed') {
        finish(record)
        onDone('signed before', record)
        return
      }
      if (error instanceof ApiError && error.code === 'waiver_document_changed') {
        setAgreed(false)
        void queryClient.resetQueries(waiverDocumentQuery)
      }
      if (error instanceof ApiError) {
        const isSilent = error.code === 'network_failed' || error.code === 'answer_unreadable'
        setRefusal(isSilent ? null : error.message || 'Server error')
      }
      // A dialog of the frame handles this error.
      showError(
        isRefusal(error, 'other_account') ? null : problem,
        error instanceof ApiError ? errorsByField(error.issues) : {},
      )
      // It may have been cancelled or refunded meanwhile.
      if (!isMember) void queryClient.invalidateQueries(registrationQuery(record.registrationId))
    }
  }

  const onSubmit = (event: FormEvent) => {
    event.preventDefault()
    if (pending || !agreed) return
    const missing = Object.fromEntries(
      asked.flatMap(({ name, label }) => {
        const typed = record[name].trim()
        if (typed === '') return [[name, `${label} is required.`]]
        return name === 'childAge' && !/^\d{1,3}$/.test(typed) ? [[name, `${label} must be a whole number.`]] : []
      }),
    )
    if (Object.keys(missing).length > 0) point(missing)
    else if (complete) submit(send)
    else showError('Missing required info. Please return to the form.')
  }

  return (
    <>
      <p>{`Please read the whole waiver. You sign it as the parent or guardian${record.siblings.length > 0 ? ' for all your children below' : ''}.`}</p>
      {document.data ? <WaiverText blocks={document.data.blocks} /> : <NoText failed={document.errorUpdateCount > 0} />}
      <WaiverFile key={document.dataUpdatedAt} />
      <form className={styles.form} onSubmit={onSubmit} noValidate>
        <Card>
          <h2 className={styles.heading}>You’re signing for</h2>
          <Details
            rows={
              isMember
                ? memberRows(known)
                : [...familyRows(record), startRow(record.startDate, startTime), classRow(record.classType)]
            }
          />
          {asked.length > 0 && (
            <div className={styles.fields}>
              {asked.map((field) => (
                <Field key={field.name} {...field} {...form.field(field.name)} id={idOf(field.name)} />
              ))}
            </div>
          )}
          {isMember && <p className={styles.sentTo}>We email the signed waiver to the address of your membership.</p>}
        </Card>
        <Checkbox
          label="I have read the waiver and agree to it."
          checked={agreed}
          onChange={(event) => setAgreed(event.target.checked)}
        />
        {refusal && (
          <Notice kind="error" title={refusal} live>
            <p>Nothing was signed.</p>
          </Notice>
        )}
        {complete && record.registrationId === '' && (
          <Notice title="Did you register in another browser?">
            <p>Then please use the link in the email we sent you to sign. We can’t find your registration from here.</p>
          </Notice>
        )}
        {!complete && !isMember && (
          <Notice title="Your registration is not complete.">
            <ButtonLink to="/robokids" variant="secondary">
              Return to the form
            </ButtonLink>
          </Notice>
        )}
        <Actions>
          <Button type="submit" disabled={!agreed} pending={pending} pendingLabel="Sending...">
            I Agree & Complete Registration
          </Button>
        </Actions>
      </form>
      <CheckFields refused={refusals} />
      <Alert message={message?.text ?? null} onClose={() => showError(null, form.errors)} />
    </>
  )
}

/** Shown instead of the text, which is also available as a PDF. */
function NoText({ failed }: { failed: boolean }) {
  if (!failed) {
    return (
      <div aria-busy="true">
        <p aria-live="polite">Loading the waiver...</p>
        <Skeleton height="60vh" />
      </div>
    )
  }
  return (
    <Notice title="We can’t show you the text right now." live>
      <p>This page keeps trying. You can also try to open the waiver as a PDF below.</p>
    </Notice>
  )
}

/** The same text as a PDF, to download or print, and embedded if there is space. */
function WaiverFile() {
  const [isOpen, setOpen] = useState(false)
  return (
    <div className={styles.file}>
      <p className={styles.links}>
        <a href={waiverAddress} download="waiver.pdf">
          Download the waiver (PDF)
        </a>
        <a href={waiverAddress} target="_blank" rel="noreferrer">
          Open the waiver in a new tab
        </a>
      </p>
      <details className={styles.embedded} onToggle={(event) => setOpen(event.currentTarget.open)}>
        <summary className={styles.summary}>Show the PDF on this page</summary>
        {/* The viewer is loaded when it is opened. */}
        {isOpen && (
          <object
            data={`${waiverAddress}#navpanes=0&view=FitH`}
            type="application/pdf"
            aria-label="The waiver as a PDF"
            // The viewer's buttons would be in the tab order before the form; the new tab has them all.
            tabIndex={-1}
            className={styles.viewer}
          >
            <p className={styles.instead}>Your browser cannot show a PDF inside a page.</p>
          </object>
        )}
      </details>
    </div>
  )
}

/** A membership's receipt is on the profile page. */
function finish(record: RegistrationRecord) {
  if (!isOfMember(record)) saveReceipt(receiptOf(record))
  forgetRecords()
  forgetDraft()
}

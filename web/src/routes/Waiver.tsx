import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type FormEvent, useEffect, useRef, useState } from 'react'
import { waiverAnswer } from '../answers.ts'
import { api, ApiError } from '../api.ts'
import { classRow, Details, familyRows, memberRows, startRow } from '../components/Details.tsx'
import { Actions, EnrollmentLoading, EnrollmentPage } from '../components/EnrollmentPage.tsx'
import { EndedOutcome, endedTitle, isEnded } from '../components/Outcome.tsx'
import { focusHeading } from '../navigation.ts'
import { forgetDraft } from '../registration/draft.ts'
import { receiptOf, saveReceipt } from '../registration/receipt.ts'
import { forgetRecords, readSessionRecord, type RegistrationRecord, recordOfView } from '../registration/record.ts'
import { standingOf } from '../registration/standing.ts'
import { registrationQuery, useRegistration } from '../registration/use-registration.ts'
import { waiverAddress, waiverDocumentQuery } from '../registration/waiver-document.ts'
import { waiverPayload } from '../registration/waiver-payload.ts'
import { Alert } from '../ui/Alert.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './Waiver.module.css'

export function Waiver() {
  const search = useSearch({ strict: false })
  const [stored] = useState(readSessionRecord)
  const reference = search['reference']
  const record = stored.state === 'found' ? stored.record : undefined
  if (record && (!reference || reference === record.registrationId)) return <Sign record={record} />
  if (reference) return <SignReferenced reference={reference} />
  return (
    <BackToForm
      message={
        stored.state === 'corrupt'
          ? 'There was a problem loading your registration.'
          : 'Registration info missing. Please return to the form.'
      }
    />
  )
}

/** Nothing can be signed here: says why, and goes to the form. */
function BackToForm({ message }: { message: string }) {
  const navigate = useNavigate()
  return (
    <EnrollmentPage step="register" title="Waiver">
      <Alert message={message} onClose={() => void navigate({ to: '/robokids' })} />
    </EnrollmentPage>
  )
}

function SignReferenced({ reference }: { reference: string }) {
  const watched = useRegistration(reference)
  switch (watched.state) {
    case 'loading':
      return <EnrollmentLoading step="waiver" />
    case 'unknown':
      return <BackToForm message="Registration info missing. Please return to the form." />
    case 'unreachable':
      return (
        <EnrollmentPage step="waiver" title="Waiver">
          <Notice title="We cannot reach our registration desk right now." live>
            <p>Your registration is safe. This page asks again by itself.</p>
          </Notice>
        </EnrollmentPage>
      )
    case 'known':
      return <Sign record={recordOfView(watched.view)} />
  }
}

type Done = 'sent' | 'signed before'

/** A registration whose state the server tells, if it was asked: the waiver may be signed, or may not be due any more. */
function Sign({ record }: { record: RegistrationRecord }) {
  const [done, setDone] = useState<Done | null>(null)
  const known = useQuery({ ...registrationQuery(record.registrationId), enabled: false }).data
  if (done) return <Thanks done={done} record={record} arriving />
  if (known?.status === 'waiver_signed') return <Thanks done="signed before" record={record} />
  const standing = known && standingOf(known)
  if (standing && isEnded(standing)) {
    return (
      <EnrollmentPage step="waiver" title={endedTitle(standing)}>
        <EndedOutcome view={known} standing={standing} />
      </EnrollmentPage>
    )
  }
  return (
    <EnrollmentPage step="waiver" title="Sign the waiver">
      {standing && standing.kind !== 'registered' && (
        <Notice title="This registration is not paid." live>
          <p>The waiver can be signed once the payment has arrived.</p>
          <ButtonLink to="/robokids/success" search={{ reference: record.registrationId }} variant="secondary">
            See where it stands
          </ButtonLink>
        </Notice>
      )}
      <WaiverForm record={record} startTime={known?.startTime} onDone={setDone} />
    </EnrollmentPage>
  )
}

interface WaiverFormProps {
  record: RegistrationRecord
  startTime: string | undefined
  onDone: (done: Done) => void
}

function WaiverForm({ record, startTime, onDone }: WaiverFormProps) {
  const [agreed, setAgreed] = useState(false)
  const [sending, setSending] = useState(false)
  const [alert, setAlert] = useState<string | null>(null)
  /** The server's own words about the last try. */
  const [refusal, setRefusal] = useState<string | null>(null)
  const underWay = useRef(false)
  const queryClient = useQueryClient()
  const document = useQuery(waiverDocumentQuery)
  const complete = record.email !== '' && record.guardianName !== '' && record.classType !== ''

  const send = async () => {
    underWay.current = true
    setSending(true)
    setRefusal(null)
    try {
      const sha256 = await queryClient.ensureQueryData(waiverDocumentQuery)
      await api('/api/waivers', { method: 'POST', body: waiverPayload(record, sha256), answer: waiverAnswer })
      finish(record)
      onDone('sent')
    } catch (error) {
      if (error instanceof ApiError && error.code === 'waiver_already_signed') {
        finish(record)
        onDone('signed before')
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
      setAlert('There was a problem submitting the waiver. Please try again.')
    } finally {
      underWay.current = false
      setSending(false)
    }
  }

  const submit = (event: FormEvent) => {
    event.preventDefault()
    if (underWay.current || !agreed) return
    if (complete) void send()
    else setAlert('Missing required info. Please return to the form.')
  }

  return (
    <>
      <p>
        Please read the whole waiver. You sign it as the parent or guardian
        {record.siblings.length > 0 ? ' for all your children below' : ''}.
      </p>
      <Document key={document.dataUpdatedAt} />
      <form className={styles['form']} onSubmit={submit}>
        <Card>
          <h2 className={styles['heading']}>You sign for</h2>
          <Details
            rows={
              record.classType === 'membership'
                ? memberRows(record)
                : [...familyRows(record), startRow(record.startDate, startTime), classRow(record.classType)]
            }
          />
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
        {!complete && (
          <Notice title="Your registration is not complete.">
            <ButtonLink to="/robokids" variant="secondary">
              Return to the form
            </ButtonLink>
          </Notice>
        )}
        <Actions>
          <Button type="submit" disabled={!agreed} pending={sending} pendingLabel="Sending...">
            I Agree & Complete Registration
          </Button>
        </Actions>
      </form>
      <Alert message={alert} onClose={() => setAlert(null)} />
    </>
  )
}

/** Browsers without a viewer for it, those of most phones, show what stands inside the element. */
function Document() {
  return (
    <div className={styles['document']}>
      <p className={styles['links']}>
        <a href={waiverAddress} target="_blank" rel="noreferrer">
          Open the waiver in a new tab
        </a>
        <a href={waiverAddress} download="waiver.pdf">
          Download the waiver (PDF)
        </a>
      </p>
      <object
        data={`${waiverAddress}#navpanes=0&view=FitH`}
        type="application/pdf"
        aria-label="The waiver"
        // The viewer's own buttons would stand between a keyboard and the form; the new tab has them all.
        tabIndex={-1}
        className={styles['paper']}
      >
        <div className={styles['instead']}>
          <p>Your browser cannot show the waiver inside this page.</p>
          <a href={waiverAddress} target="_blank" rel="noreferrer">
            Open the waiver in a new tab
          </a>
        </div>
      </object>
    </div>
  )
}

function finish(record: RegistrationRecord) {
  saveReceipt(receiptOf(record))
  forgetRecords()
  forgetDraft()
}

interface ThanksProps {
  done: Done
  record: RegistrationRecord
  /** It takes the place of the form, which was longer. */
  arriving?: boolean
}

function Thanks({ done, record, arriving = false }: ThanksProps) {
  useEffect(() => {
    if (!arriving) return
    window.scrollTo(0, 0)
    focusHeading()
  }, [arriving])
  return (
    <EnrollmentPage
      step="kit"
      title={done === 'sent' ? 'Waiver submitted successfully!' : 'This waiver is signed already'}
    >
      <Notice
        kind="success"
        title={done === 'sent' ? 'Your registration is complete.' : 'There is nothing left to do.'}
        live
      >
        {done === 'sent' ? (
          <p>
            A confirmation email will arrive shortly{record.email && ` at ${record.email}`}, with the signed waiver.
          </p>
        ) : (
          <p>The signed waiver was sent by email{record.email && ` to ${record.email}`}.</p>
        )}
        <p>The kit now gets ready to ship, and arrives before the first class.</p>
      </Notice>
      <Actions>
        <ButtonLink to="/">Back to the homepage</ButtonLink>
        <ButtonLink
          to="/robokids/receipt"
          variant="secondary"
          {...(record.registrationId ? { search: { reference: record.registrationId } } : {})}
        >
          See your receipt
        </ButtonLink>
      </Actions>
    </EnrollmentPage>
  )
}

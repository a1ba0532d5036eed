import { endedTitle, isEnded, toDisplayStatus } from '@robokids/contracts/display-status'
import { disputeText } from '@robokids/contracts/disputes'
import type { MemberSeat } from '@robokids/contracts/enrollment'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { Actions, StatusLoading, StatusPage } from '../checkout/StatusPage.tsx'
import { isNoMembership, memberSeatQuery } from '../membership/queries.ts'
import { DisputedNotice, EndedOutcome } from '../registration/Outcome.tsx'
import {
  isOfMember,
  readSessionRecord,
  recordOfMembership,
  type RegistrationRecord,
  recordOfView,
} from '../registration/record.ts'
import { useRegistration } from '../registration/use-registration.ts'
import { Alert } from '../ui/Alert.tsx'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { focusHeading } from '../ui/focus-heading.ts'
import { Notice } from '../ui/Notice.tsx'
import styles from './Waiver.module.css'
import { type Done, WaiverForm } from './WaiverForm.tsx'

/** `?reference=` names a registration, `?membership=` a membership; otherwise the record stored in this tab is used. */
export function Waiver() {
  // The page has two addresses.
  const { reference, membership } = useSearch({ strict: false })
  const [stored] = useState(readSessionRecord)
  const record = stored.state === 'found' ? stored.record : undefined
  if (membership && record?.registrationId !== membership)
    return <SignMembership record={recordOfMembership(membership)} />
  if (record && isOfMember(record) && !reference) return <SignMembership record={record} />
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

/** Nothing can be signed: says why, and leads to the form. */
function BackToForm({ message }: { message: string }) {
  const navigate = useNavigate()
  return (
    <StatusPage step="register" title="Waiver">
      <Alert message={message} onClose={() => void navigate({ to: '/robokids' })} />
    </StatusPage>
  )
}

function SignReferenced({ reference }: { reference: string }) {
  const watched = useRegistration(reference)
  switch (watched.state) {
    case 'loading':
      return <StatusLoading step="waiver" />
    case 'unknown':
      return <BackToForm message="Registration info missing. Please return to the form." />
    case 'unreachable':
      return (
        <StatusPage step="waiver" title="Waiver">
          <Notice title="We can’t check your registration right now." live>
            <p>Your registration is safe. This page keeps checking.</p>
          </Notice>
        </StatusPage>
      )
    case 'known':
      return <Sign record={recordOfView(watched.view)} />
  }
}

/** A registration with its status from the server: the waiver may be signed already, or no longer due. */
function Sign({ record }: { record: RegistrationRecord }) {
  const [done, setDone] = useState<Done | null>(null)
  const watched = useRegistration(record.registrationId || null)
  const known = watched.state === 'known' ? watched.view : undefined
  if (done) return <Thanks done={done} record={record} arriving />
  if (watched.state === 'loading' && record.registrationId) return <StatusLoading step="waiver" />
  const displayStatus = known && toDisplayStatus(known)
  if (displayStatus && isEnded(displayStatus)) {
    return (
      <StatusPage step="pay" title={endedTitle(displayStatus)}>
        <EndedOutcome view={known} displayStatus={displayStatus} />
      </StatusPage>
    )
  }
  if (displayStatus?.kind === 'registered' && displayStatus.disputed) {
    return (
      <StatusPage step="pay" title="Your payment is disputed">
        <DisputedNotice>
          {known?.checkout?.disputes.map((dispute, index) => (
            <p key={index}>{disputeText(dispute)}</p>
          ))}
        </DisputedNotice>
        <Actions>
          <ButtonLink to="/robokids/success" search={{ reference: record.registrationId }} variant="secondary">
            Check its status
          </ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  if (known?.status === 'waiver_signed') return <Thanks done="signed before" record={record} />
  const isUnpaid = displayStatus !== undefined && displayStatus.kind !== 'registered'
  return (
    <StatusPage step={isUnpaid ? 'pay' : 'waiver'} title="Sign the waiver">
      {isUnpaid && (
        <Notice title="This registration isn’t paid yet." live>
          <p>You can sign the waiver once we receive the payment.</p>
          <ButtonLink to="/robokids/success" search={{ reference: record.registrationId }} variant="secondary">
            Check its status
          </ButtonLink>
        </Notice>
      )}
      <WaiverForm record={record} startTime={known?.startTime} onDone={setDone} />
    </StatusPage>
  )
}

/** A membership's waiver: the server says which session it is for, and whether it is signed. */
function SignMembership({ record: known }: { record: RegistrationRecord }) {
  const { registrationId: membershipId } = known
  const [done, setDone] = useState<{ how: Done; record: RegistrationRecord } | null>(null)
  const [again, setAgain] = useState(false)
  const asked = useQuery({ ...memberSeatQuery(membershipId), enabled: membershipId !== '' })
  const { data: seat, error, errorUpdateCount } = asked
  const record = seat ? { ...known, startDate: seat.classDate } : known
  if (done) return <Thanks done={done.how} record={done.record} arriving />
  if (membershipId !== '' && !seat) {
    if (errorUpdateCount === 0) return <StatusLoading />
    return (
      <StatusPage title="Waiver">
        {isNoMembership(error) ? (
          <Notice title="We can’t find a membership with this reference." live>
            <p>
              If you just paid, this page will update in a moment. Otherwise, please use the link in your welcome email
              or on your profile page.
            </p>
          </Notice>
        ) : (
          <Notice title="We can’t check your membership right now." live>
            <p>Your membership is safe. This page keeps checking.</p>
          </Notice>
        )}
      </StatusPage>
    )
  }
  if (seat?.waiverSignedAt && !again)
    return (
      <Thanks done="signed before" record={record}>
        {seat.signed ? (
          <SignedBy {...seat.signed} onAgain={() => setAgain(true)} />
        ) : (
          <p>If you didn’t sign it, please log in and sign it again from your profile page.</p>
        )}
      </Thanks>
    )
  if (seat && seat.status !== 'seated') {
    return (
      <StatusPage title="There is nothing to sign">
        <Notice
          title={seat.status === 'released' ? 'This membership has ended.' : 'This membership couldn’t start.'}
          live
        >
          {seat.status === 'refused' && <p>We’re automatically refunding your card.</p>}
        </Notice>
        <Actions>
          <ButtonLink to="/membership">See membership plans</ButtonLink>
        </Actions>
      </StatusPage>
    )
  }
  return (
    <StatusPage title={again ? 'Sign the waiver again' : 'Sign the waiver'}>
      <WaiverForm
        record={record}
        startTime={seat?.startTime ?? undefined}
        replaces={again ? seat?.signed?.waiverId : undefined}
        onDone={(how, signed) => setDone({ how, record: signed })}
      />
    </StatusPage>
  )
}

interface SignedByProps extends NonNullable<MemberSeat['signed']> {
  onAgain: () => void
}

/** For the membership's own account, as somebody else with the link may have signed. */
function SignedBy({ guardianName, childNames, onAgain }: SignedByProps) {
  return (
    <Card className={styles.signedBy ?? ''}>
      <Details
        rows={[
          ['Signed by', asWritten(guardianName)],
          [childNames.length === 1 ? 'For the child' : 'For the children', asWritten(childNames.join(', '))],
        ]}
      />
      <p>If that’s not right, sign it again. Your new signature will replace this one.</p>
      <Button variant="secondary" onClick={onAgain}>
        Sign it again
      </Button>
    </Card>
  )
}

interface ThanksProps {
  done: Done
  record: RegistrationRecord
  children?: ReactNode
  /** It replaces the form, which was longer. */
  arriving?: boolean
}

function Thanks({ done, record, children, arriving = false }: ThanksProps) {
  const isMember = isOfMember(record)
  const address = isMember ? 'the address of your membership' : record.email
  useEffect(() => {
    if (!arriving) return
    window.scrollTo(0, 0)
    focusHeading()
  }, [arriving])
  return (
    <StatusPage
      {...(isMember ? {} : { step: 'kit' })}
      title={done === 'sent' ? 'Waiver submitted successfully!' : 'This waiver is already signed'}
    >
      <Notice
        kind="success"
        title={
          done === 'signed before'
            ? 'There’s nothing left to do.'
            : `Your ${isMember ? 'membership' : 'registration'} is complete.`
        }
        live
      >
        {done === 'sent' ? (
          <p>{`A confirmation email will arrive shortly${address ? ` at ${address}` : ''}, with the signed waiver.`}</p>
        ) : (
          <p>{`We email you the signed waiver${address ? ` at ${address}` : ''}.`}</p>
        )}
        {!isMember && <p>We’re getting the kit ready. It arrives before the first class.</p>}
      </Notice>
      {children}
      <Actions>
        <ButtonLink to="/">Back to the homepage</ButtonLink>
        {isMember ? (
          <ButtonLink to="/profile" variant="secondary">
            Go to your profile
          </ButtonLink>
        ) : (
          <ButtonLink
            to="/robokids/receipt"
            variant="secondary"
            search={{ reference: record.registrationId || undefined }}
          >
            See your receipt
          </ButtonLink>
        )}
      </Actions>
    </StatusPage>
  )
}

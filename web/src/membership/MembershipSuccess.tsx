import type { MembershipOutcome } from '@robokids/contracts/billing'
import { formatClassDate } from '@robokids/contracts/class-date'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect, useState } from 'react'
import { AutoSignInLine } from '../account/AutoSignInLine.tsx'
import { type PendingUser, readPendingUser, savePendingUser } from '../account/pending-user.ts'
import { sessionQuery } from '../account/session.ts'
import { useAutoSignIn } from '../account/use-auto-sign-in.ts'
import { forgetMemberDraft } from '../browser/stored-data.ts'
import { LongWait } from '../checkout/LongWait.tsx'
import { type NextStep, NextSteps } from '../checkout/NextSteps.tsx'
import { Actions } from '../checkout/StatusPage.tsx'
import { inOneLine, Ticket } from '../checkout/Ticket.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { timeForReader } from '../classes/class-time.ts'
import { ClassMoment } from '../classes/ClassMoment.tsx'
import { isLevel, levels } from '../classes/level-looks.ts'
import { LevelRobot } from '../classes/LevelRobot.tsx'
import { type RegistrationRecord, recordOfMembership, savedRecord, saveSessionRecord } from '../registration/record.ts'
import { childRow } from '../registration/registration-rows.tsx'
import { AsWritten, asWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { type Row as DetailsRow, Details } from '../ui/Details.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Notice } from '../ui/Notice.tsx'
import { planInShort, planName } from './membership-texts.ts'
import styles from './MembershipSuccess.module.css'
import { isUnknown, memberSeatQuery, outcomeQuery } from './queries.ts'

/** The server says what is paid; without a reference the page shows what this browser has stored. */
export function MembershipSuccess() {
  const { reference } = useSearch({ from: '/success' })
  const [pending] = useState(readPendingUser)
  const [record] = useState(savedRecord)
  if (reference) return <Asked reference={reference} pending={pending} />
  if (!pending && !record) return <NotFound />
  return (
    <Page title="Payment Successful!">
      {pending ? (
        <Member pending={pending} plan={planName(pending.plan)} rows={rowsOfMember(pending)} />
      ) : (
        record && (
          <>
            <TicketOfRecord record={record} />
            <Card>
              <Details rows={rowsOfRecord(record)} />
            </Card>
          </>
        )
      )}
    </Page>
  )
}

function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.page}>
      <h1>{title}</h1>
      {children}
    </div>
  )
}

interface ToWaiverProps {
  /** The id of a membership that this tab has no record of. */
  membershipId?: string | undefined
}

function ToWaiver({ membershipId }: ToWaiverProps) {
  return (
    <ButtonLink to="/waiver" search={{ membership: membershipId }}>
      Complete Waiver Form
    </ButtonLink>
  )
}

function TicketOfRecord({ record }: { record: RegistrationRecord }) {
  const { guardianName, childName, siblings, classType, startDate } = record
  const level = isLevel(classType) ? classType : undefined
  const children = [childName, ...siblings.map((sibling) => sibling.childName)].filter((name) => name !== '')
  return (
    <Ticket
      who={asWritten(inOneLine(children) || guardianName) || 'Welcome'}
      what={level ? openingLevels[level].title : 'Your class'}
      when={startDate && formatClassDate(startDate)}
      picture={level ? <LevelRobot classType={level} /> : <Drawing of="class-scene" />}
      accent={level && levels[level].accent}
    >
      <ToWaiver />
    </Ticket>
  )
}

interface MembershipTicketProps extends ToWaiverProps {
  givenName?: string | undefined
  plan: string
  classDate: string
  /** Null if unknown. */
  startTime: string | null
  children?: ReactNode
}

function MembershipTicket({ givenName, plan, classDate, startTime, membershipId, children }: MembershipTicketProps) {
  return (
    <Ticket
      who={
        givenName ? (
          <>
            <span>Welcome, </span>
            <AsWritten>{givenName}</AsWritten>
          </>
        ) : (
          'Welcome'
        )
      }
      what={`Membership, ${plan}`}
      when={classDate && <Moment classDate={classDate} startTime={startTime} />}
      picture={<Drawing of="class-scene" />}
    >
      <ToWaiver membershipId={membershipId} />
      {children}
    </Ticket>
  )
}

function Moment({ classDate, startTime }: Pick<MembershipTicketProps, 'classDate' | 'startTime'>) {
  return startTime === null ? <p>{formatClassDate(classDate)}</p> : <ClassMoment date={classDate} time={startTime} />
}

interface MembershipStepsProps extends Pick<MembershipTicketProps, 'classDate' | 'startTime'> {
  /** The destination of the confirmation code, if the account is not confirmed yet. */
  toConfirm?: string | undefined
}

/** The steps from the payment to the members' first class. */
function MembershipSteps({ classDate, startTime, toConfirm }: MembershipStepsProps) {
  const steps: NextStep[] = [
    { title: 'Sign the waiver', text: 'Read and sign it as the parent or guardian. It takes a few minutes.' },
    ...(toConfirm === undefined
      ? []
      : [
          {
            title: 'Confirm your email',
            text: `We emailed a code to ${toConfirm}. Enter it and your account is ready.`,
          },
        ]),
    ...(classDate === ''
      ? []
      : [
          {
            title: 'Your first class',
            text: (
              <>
                <Moment classDate={classDate} startTime={startTime} />
                <p>Live on a video call. We’ll email the link once the waiver is signed.</p>
              </>
            ),
          },
        ]),
  ]
  return <NextSteps steps={steps} />
}

function NotFound() {
  return (
    <Page title="Payment">
      <Notice kind="error" title="Registration info not found. Please go back and try again." />
      <Actions>
        <ButtonLink to="/membership">Go to the membership</ButtonLink>
      </Actions>
    </Page>
  )
}

const refusals: Record<NonNullable<MembershipOutcome['refusal']>, string> = {
  class_full: 'By the time your payment arrived, the session was full.',
  class_started: 'By the time your payment arrived, the session had started.',
  class_not_offered: 'By the time your payment arrived, the session was no longer offered.',
  duplicate: 'This email already has a membership, so we ended the second one.',
  amount_mismatch: 'The payment didn’t match the price of the membership.',
}

/** The server's status of the payment with this reference. */
function Asked({ reference, pending }: { reference: string; pending: PendingUser | undefined }) {
  const { data, error, errorUpdateCount } = useQuery(outcomeQuery(reference))
  const isMember = data?.status === 'confirmed'
  const { data: seat } = useQuery({ ...memberSeatQuery(data?.attemptId ?? ''), enabled: isMember })
  const signedIn = Boolean(useQuery(sessionQuery).data?.user)
  useEffect(() => {
    if (isMember && pending) savePendingUser({ ...pending, isMember })
  }, [isMember, pending])
  if (!data) {
    if (isUnknown(error)) return <NotFound />
    return (
      <Page title="Your payment is being processed">
        {errorUpdateCount > 0 ? (
          <>
            <Notice title="We can’t check your payment right now." live>
              <p>If you’ve paid, your payment is safe with us. This page keeps checking.</p>
            </Notice>
            <LongWait reference={reference} />
          </>
        ) : (
          <p aria-live="polite">One moment, please.</p>
        )}
      </Page>
    )
  }
  const details = rowsOfOutcome(data, pending)
  const confirmed: DetailsRow[] = seat?.startTime
    ? [...details, ['Class time', `${timeForReader(seat.classDate, seat.startTime)}, live on a video call`]]
    : details
  const back = data.refunded > 0 && (
    <p>{`${formatMoney({ amount: data.refunded, currency: data.currency })} will be refunded to your card automatically.`}</p>
  )
  switch (data.status) {
    case 'processing':
      return (
        <Page title="Your payment is being processed">
          <Notice title="We’re waiting for your payment to be confirmed." live>
            <p>This page updates automatically. We’ll email you the confirmation too.</p>
          </Notice>
          <LongWait reference={data.attemptId} />
          <Card>
            <Details rows={details} />
          </Card>
        </Page>
      )
    case 'open':
      return (
        <Page title="Your membership is not paid yet">
          <Notice title="You weren’t charged.">
            <p>Your seat is held while you pay.</p>
          </Notice>
          <Card>
            <Details rows={details} />
          </Card>
          {data.checkoutUrl && <GoOn url={data.checkoutUrl} />}
        </Page>
      )
    case 'expired':
    case 'failed':
      return (
        <Page title="Your membership is not paid">
          <Notice title="The payment was not completed in time, or did not go through.">
            {back || <p>You weren’t charged.</p>}
          </Notice>
          <Actions>
            <ButtonLink to="/membership/register">Try again</ButtonLink>
          </Actions>
        </Page>
      )
    case 'refused':
      return (
        <Page title="Your payment is being refunded">
          <Notice title={data.refusal ? refusals[data.refusal] : 'This membership couldn’t start.'} live>
            {back || <p>We’re automatically refunding your card.</p>}
            <p>We’ll email you too.</p>
          </Notice>
          <Actions>
            {data.refusal === 'duplicate' ? (
              <ButtonLink to={signedIn ? '/profile' : '/membership/login'}>
                {signedIn ? 'Go to your profile' : 'Log in'}
              </ButtonLink>
            ) : (
              <ButtonLink to="/membership/register">Choose another date</ButtonLink>
            )}
          </Actions>
        </Page>
      )
    case 'confirmed': {
      const startTime = seat?.startTime ?? null
      return (
        <Page title="Payment Successful!">
          {pending ? (
            <Member
              pending={pending}
              plan={planInShort(data.plan, data.amount)}
              rows={confirmed}
              reference={data.attemptId}
              startTime={startTime}
            />
          ) : (
            <>
              <Notice
                kind="success"
                title="Welcome. Your membership has started, and you have a seat in the members’ session."
              />
              <MembershipTicket
                plan={planInShort(data.plan, data.amount)}
                classDate={data.classDate}
                startTime={startTime}
                membershipId={data.attemptId}
              >
                <ButtonLink to="/profile" variant="secondary">
                  Go to your profile
                </ButtonLink>
              </MembershipTicket>
              <MembershipSteps classDate={data.classDate} startTime={startTime} />
              <Card>
                <Details rows={confirmed} />
              </Card>
            </>
          )}
        </Page>
      )
    }
  }
}

function GoOn({ url }: { url: string }) {
  const { leaving, leaveFor } = useExternalRedirect()
  return (
    <Actions>
      <Button onClick={() => leaveFor(url)} pending={leaving}>
        Continue to payment
      </Button>
    </Actions>
  )
}

function rowsOfOutcome(
  { plan, amount, classDate, receiptNumber }: MembershipOutcome,
  pending: PendingUser | undefined,
) {
  return known([
    ['Guardian', pending ? asWritten(`${pending.given_name} ${pending.family_name}`.trim()) : ''],
    ['Email', asWritten(pending?.email ?? '')],
    ['Membership plan', planInShort(plan, amount)],
    ['Class date', formatClassDate(classDate)],
    ['Receipt', receiptNumber ?? ''],
  ])
}

const known = (rows: DetailsRow[]) => rows.filter(([, value]) => value !== '')

function rowsOfRecord({ guardianName, childName, childAge, classType, startDate }: RegistrationRecord): DetailsRow[] {
  return known([
    ['Guardian', asWritten(guardianName)],
    ...(childName ? [childRow({ childName, childAge })] : []),
    ['Class type', isLevel(classType) ? openingLevels[classType].title : classType],
    ['Class date', startDate && formatClassDate(startDate)],
  ])
}

function rowsOfMember(pending: PendingUser): DetailsRow[] {
  const { given_name, family_name, email, plan, classDate } = pending
  return known([
    ['Guardian', asWritten(`${given_name} ${family_name}`.trim())],
    ['Email', asWritten(email)],
    ['Membership plan', planName(plan)],
    ['Class date', classDate && formatClassDate(classDate)],
  ])
}

/** The record for the waiver page; without a reference it cannot be verified. */
const recordOfMember = (membershipId: string, member: PendingUser) =>
  recordOfMembership(membershipId, {
    guardianName: `${member.given_name} ${member.family_name}`.trim(),
    email: member.email,
    addressLine1: member.street,
    city: member.city,
    state: member.state,
    zipCode: member.zip,
    startDate: member.classDate,
  })

interface MemberProps {
  pending: PendingUser
  plan: string
  rows: DetailsRow[]
  /** The membership's id, if known. */
  reference?: string
  startTime?: string | null
}

function Member({ pending, plan, rows, reference = '', startTime = null }: MemberProps) {
  const { data } = useQuery(sessionQuery)
  const autoSignIn = useAutoSignIn(data && !data.user ? pending.signedUpAt : undefined)
  useEffect(() => {
    saveSessionRecord(recordOfMember(reference, pending))
    forgetMemberDraft()
  }, [pending, reference])
  const signedIn = data?.user || autoSignIn.state === 'signed in'
  return (
    <>
      <Notice
        kind="success"
        title="Welcome. Your membership is starting, and you have a seat in the members’ session."
      />
      <MembershipTicket
        givenName={pending.given_name}
        plan={plan}
        classDate={pending.classDate}
        startTime={startTime}
      />
      {signedIn ? (
        <Notice kind="success" title="Your account is confirmed, and you’re logged in." live>
          <ButtonLink to="/profile" variant="secondary">
            Go to your profile
          </ButtonLink>
        </Notice>
      ) : (
        <Card as="section" className={styles.confirm} aria-labelledby="confirm-heading">
          <h2 id="confirm-heading">Confirm your email</h2>
          <p>
            We emailed a code to <strong translate="no">{pending.codeSentTo || pending.email}</strong>. Enter it and
            your account is ready.
          </p>
          <ButtonLink to="/confirm" search={{ email: pending.email }} variant="secondary">
            Enter the code
          </ButtonLink>
          <AutoSignInLine autoSignIn={autoSignIn} />
        </Card>
      )}
      <MembershipSteps
        classDate={pending.classDate}
        startTime={startTime}
        toConfirm={signedIn ? undefined : pending.codeSentTo || pending.email}
      />
      <Card>
        <Details rows={rows} />
      </Card>
    </>
  )
}

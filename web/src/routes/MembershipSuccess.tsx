import { formatClassDate } from '@robokids/contracts/class-date'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { AutoSignInLine } from '../components/AutoSignInLine.tsx'
import { type Row as DetailsRow, Details } from '../components/Details.tsx'
import { Actions } from '../components/EnrollmentPage.tsx'
import { isLevel, levels } from '../content/levels.ts'
import { plans } from '../content/membership.ts'
import { forgetMemberDraft } from '../identity/kept.ts'
import { type PendingUser, readPendingUser } from '../identity/pending-user.ts'
import { sessionQuery } from '../identity/session.ts'
import { useAutoSignIn } from '../identity/use-auto-sign-in.ts'
import { type RegistrationRecord, savedRecord, saveSessionRecord } from '../registration/record.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './MembershipSuccess.module.css'

/** What this browser knows of the registration that was paid: a membership's, or one that was saved for the waiver. */
export function MembershipSuccess() {
  const [pending] = useState(readPendingUser)
  const [record] = useState(savedRecord)
  if (!pending && !record) {
    return (
      <div className={styles['page']}>
        <h1>Payment</h1>
        <Notice kind="error" title="Registration info not found. Please go back and try again." />
        <Actions>
          <ButtonLink to="/membership">Go to the membership</ButtonLink>
        </Actions>
      </div>
    )
  }
  return (
    <div className={styles['page']}>
      <h1>Payment Successful!</h1>
      {pending ? (
        <Member pending={pending} />
      ) : (
        record && (
          <Card>
            <Details rows={rowsOfRecord(record)} />
          </Card>
        )
      )}
      <Actions>
        <ButtonLink to="/waiver">Complete Waiver Form</ButtonLink>
      </Actions>
    </div>
  )
}

const known = (rows: DetailsRow[]) => rows.filter(([, value]) => value !== '')

function rowsOfRecord({ guardianName, childName, childAge, classType, startDate }: RegistrationRecord): DetailsRow[] {
  return known([
    ['Guardian', guardianName],
    ['Child', childAge && childName ? `${childName}, age ${childAge}` : childName],
    ['Class type', isLevel(classType) ? levels[classType].name : classType],
    ['Class date', startDate && formatClassDate(startDate)],
  ])
}

function rowsOfMember({ given_name, family_name, email, plan, classDate }: PendingUser): DetailsRow[] {
  return known([
    ['Guardian', `${given_name} ${family_name}`.trim()],
    ['Email', email],
    ['Membership plan', plans[plan].name],
    ['Class date', classDate && formatClassDate(classDate)],
  ])
}

/** What the waiver's page reads: a membership has no child and no reference of its own. */
const recordOfMember = ({ given_name, family_name, email, street, city, state, zip, classDate }: PendingUser) => ({
  registrationId: '',
  guardianName: `${given_name} ${family_name}`,
  email,
  childName: '',
  childAge: '',
  siblings: [],
  addressLine1: street,
  addressLine2: '',
  city,
  state,
  zipCode: zip,
  startDate: classDate,
  classType: 'membership',
  timestamp: new Date().toISOString(),
})

function Member({ pending }: { pending: PendingUser }) {
  const { data } = useQuery(sessionQuery)
  const autoSignIn = useAutoSignIn(data && !data.user ? pending.signedUpAt : undefined)
  useEffect(() => {
    saveSessionRecord(recordOfMember(pending))
    forgetMemberDraft()
  }, [pending])
  const signedIn = data?.user || autoSignIn.state === 'signed in'
  return (
    <>
      <p>Welcome. Your membership begins, and your seat is on the way.</p>
      <Card>
        <Details rows={rowsOfMember(pending)} />
      </Card>
      {signedIn ? (
        <Notice kind="success" title="Your account is confirmed, and you are logged in." live>
          <ButtonLink to="/profile" variant="secondary">
            Go to your profile
          </ButtonLink>
        </Notice>
      ) : (
        <Card as="section" className={styles['confirm']} aria-labelledby="confirm-heading">
          <h2 id="confirm-heading">Confirm your email</h2>
          <p>
            We mailed a code to <strong>{pending.codeSentTo || pending.email}</strong>. Enter it, and your account is
            ready.
          </p>
          <ButtonLink to="/confirm" search={{ email: pending.email }} variant="secondary">
            Enter the code
          </ButtonLink>
          <AutoSignInLine autoSignIn={autoSignIn} />
        </Card>
      )}
      <section className={styles['waiver']} aria-labelledby="waiver-heading">
        <h2 id="waiver-heading">One thing is left: the waiver</h2>
        <p>You read and sign it as the parent or guardian. It takes a minute.</p>
      </section>
    </>
  )
}

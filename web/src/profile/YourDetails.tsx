import type { Profile } from '@robokids/contracts/auth'
import { formatDay } from '@robokids/contracts/class-date'
import { lazy, Suspense, useState } from 'react'
import { MessageLine } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Button } from '../ui/Button.tsx'
import { Item, Items, Section } from '../ui/Section.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { sendVerification, type VerifiedAttribute, VerifyForm } from './VerifyForm.tsx'

// Imported together with its validation.
const EditDetails = lazy(async () => ({ default: (await import('./EditDetails.tsx')).EditDetails }))

const notSet = 'Not set'

export function YourDetails({ profile }: { profile: Profile }) {
  const [editing, setEditing] = useState(false)
  const [verifying, setVerifying] = useState<{ attribute: VerifiedAttribute; sent: string } | null>(null)
  const state = useSubmit('Something went wrong.')
  const { email, emailVerified, formerEmail, birthdate, phoneNumber, phoneNumberVerified, address } = profile

  const verify = (attribute: VerifiedAttribute) =>
    state.submit(async () => setVerifying({ attribute, sent: await sendVerification(attribute) }))
  const verifyForm = (attribute: VerifiedAttribute) =>
    verifying?.attribute === attribute && (
      <VerifyForm
        {...verifying}
        onDone={() => {
          setVerifying(null)
          state.showSuccess(attribute === 'email' ? 'Your email is verified.' : 'Your phone number is verified.')
        }}
        onCancel={() => setVerifying(null)}
      />
    )
  const verifyButton = (attribute: VerifiedAttribute, label: string) =>
    verifying?.attribute !== attribute && (
      <Button variant="quiet" disabled={state.pending} onClick={() => verify(attribute)}>
        {label}
      </Button>
    )

  if (editing) {
    return (
      <Section title="Your details">
        <Suspense fallback={<Skeleton height="24rem" />}>
          <EditDetails
            profile={profile}
            onCancel={() => setEditing(false)}
            onSaved={(newEmail) => {
              setEditing(false)
              state.showSuccess('Your details are saved.')
              if (newEmail)
                setVerifying({
                  attribute: 'email',
                  sent: `We emailed a code to ${newEmail}. The new address takes effect once you enter it.`,
                })
            }}
          />
        </Suspense>
      </Section>
    )
  }
  return (
    <Section title="Your details">
      <MessageLine message={state.message} />
      <Items label="Your details" facts>
        <Item name="Name" detail={asWritten(`${profile.givenName} ${profile.familyName}`.trim()) || notSet} />
        <Item
          name="Email"
          badge={emailVerified ? 'Verified' : formerEmail ? 'Not verified yet' : undefined}
          open={!emailVerified}
          detail={email}
          note={formerEmail && `Until you enter its code, you log in with ${formerEmail}, and we email you there.`}
        >
          {!emailVerified && verifyButton('email', 'Verify email')}
        </Item>
        {verifyForm('email')}
        <Item name="Birthdate" detail={birthdate ? formatDay(birthdate) : notSet} />
        <Item name="Phone" badge={phoneNumberVerified ? 'Verified' : undefined} detail={phoneNumber || notSet}>
          {phoneNumber && !phoneNumberVerified && verifyButton('phone_number', 'Verify phone')}
        </Item>
        {verifyForm('phone_number')}
        <Item name="Address" detail={asWritten(address) || notSet} />
      </Items>
      <div>
        <Button variant="secondary" onClick={() => setEditing(true)}>
          Edit
        </Button>
      </div>
    </Section>
  )
}

import { latestAdultBirthdate } from '@robokids/contracts/adult'
import type { Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeProfile } from '../account/profile.ts'
import { Form, Row } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { type ProfileValues, readProfileChange } from './read-profile.ts'

interface EditDetailsProps {
  profile: Profile
  /** Called with the new email, if it was changed. */
  onSaved: (newEmail?: string) => void
  onCancel: () => void
}

export function EditDetails({ profile, onSaved, onCancel }: EditDetailsProps) {
  // The initial values: a change in another tab is not a change made here.
  const [before] = useState<ProfileValues>(() => {
    const { email, givenName, familyName, birthdate, phoneNumber, address } = profile
    return { email, givenName, familyName, birthdate, phoneNumber, address }
  })
  const [latestBirthdate] = useState(() => latestAdultBirthdate(new Date().toISOString()))
  const form = useForm(useState(before), 'Something went wrong.')
  const queryClient = useQueryClient()

  const save = () => {
    const read = readProfileChange(form.values, before, new Date())
    if ('errors' in read) {
      form.showError('Please check the marked fields.', read.errors)
      return
    }
    const { change } = read
    if (Object.keys(change).length === 0) {
      onSaved()
      return
    }
    form.submit(async () => {
      await changeProfile(queryClient, '/api/profile', { method: 'PATCH', body: change })
      onSaved(change.email)
    })
  }

  return (
    <Form message={form.message} onSubmit={save}>
      <Field {...form.field('givenName')} label="First name" autoComplete="given-name" required />
      <Field {...form.field('familyName')} label="Last name" autoComplete="family-name" required />
      <Field
        {...form.field('email')}
        label="Email"
        hint="A new address takes effect once you enter the code we email to it."
        type="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <Field {...form.field('birthdate')} label="Birthdate" type="date" max={latestBirthdate} autoComplete="bday" />
      <Field {...form.field('phoneNumber')} label="Phone number" type="tel" inputMode="tel" autoComplete="tel" />
      {/* No `autoComplete` token stands for a whole address: browsers would fill in the street only. */}
      <Field {...form.field('address')} label="Address" autoComplete="off" />
      <Row>
        <Button type="submit" pending={form.pending}>
          Save
        </Button>
        <Button variant="quiet" disabled={form.pending} onClick={onCancel}>
          Cancel
        </Button>
      </Row>
    </Form>
  )
}

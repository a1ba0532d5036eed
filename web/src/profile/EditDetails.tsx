import { latestAdultBirthdate } from '@robokids/contracts/adult'
import type { Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { changeProfile } from '../account/profile.ts'
import { Form, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { type ProfileValues, readProfileChange } from './read-profile.ts'

interface EditDetailsProps {
  profile: Profile
  /** With the new email address, where it was changed. */
  onSaved: (newEmail?: string) => void
  onCancel: () => void
}

export function EditDetails({ profile, onSaved, onCancel }: EditDetailsProps) {
  // As the form began: what another tab changes meanwhile is no change that was made here.
  const [before] = useState<ProfileValues>(() => {
    const { email, givenName, familyName, birthdate, phoneNumber, address } = profile
    return { email, givenName, familyName, birthdate, phoneNumber, address }
  })
  const [values, setValues] = useState(before)
  const [latestBirthdate] = useState(() => latestAdultBirthdate(new Date().toISOString()))
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()

  const text = (name: keyof ProfileValues) => ({
    name,
    value: values[name],
    error: state.errors[name],
    onChange: (event: { target: { value: string } }) => setValues({ ...values, [name]: event.target.value }),
  })
  const save = () => {
    const read = readProfileChange(values, before, new Date())
    if ('errors' in read) {
      state.refuse('Please check the marked fields.', read.errors)
      return
    }
    const { change } = read
    if (Object.keys(change).length === 0) {
      onSaved()
      return
    }
    state.send(async () => {
      await changeProfile(queryClient, '/api/profile', { method: 'PATCH', body: change })
      onSaved(change.email)
    })
  }

  return (
    <Form state={state} onSubmit={save}>
      <Field {...text('givenName')} label="First name" autoComplete="given-name" required />
      <Field {...text('familyName')} label="Last name" autoComplete="family-name" required />
      <Field
        {...text('email')}
        label="Email"
        hint="A new address counts once you have entered the code that we mail to it."
        type="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <Field {...text('birthdate')} label="Birthdate" type="date" max={latestBirthdate} autoComplete="bday" />
      <Field {...text('phoneNumber')} label="Phone number" type="tel" inputMode="tel" autoComplete="tel" />
      {/* No browser keeps a whole address in one line: it would put the street in its place. */}
      <Field {...text('address')} label="Address" autoComplete="off" />
      <Row>
        <Button type="submit" pending={state.sending}>
          Save
        </Button>
        <Button variant="quiet" disabled={state.sending} onClick={onCancel}>
          Cancel
        </Button>
      </Row>
    </Form>
  )
}

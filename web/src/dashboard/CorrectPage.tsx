import type { DashboardCard } from '@robokids/contracts/dashboard'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { sessionQuery } from '../account/session.ts'
import { SignInFirst } from '../account/SignInFirst.tsx'
import { adoptSignedInAccount, api } from '../api/api.ts'
import { useKeptFromBack } from '../browser/use-kept-from-back.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { Form, Problems } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { AddressFields } from '../registration/AddressFields.tsx'
import { addressFields } from '../registration/sign-up-values.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { corrected } from './change-answers.ts'
import styles from './Change.module.css'
import { Loading, toCard } from './ChangePage.tsx'
import { dashboardQuery } from './dashboard-query.ts'

const title = 'Correct a name or the address'

/** Names, ages and the address of a registration, until its kit is shipped. */
export function CorrectPage() {
  const { card = '' } = useSearch({ from: '/dashboard/correct' })
  const page = useRef<HTMLDivElement>(null)
  useKeptFromBack(page)
  const session = useQuery(sessionQuery)
  if (session.data?.user === null) return <SignInFirst />
  return (
    <div ref={page}>
      <StatusPage title={title}>
        {session.data ? (
          <Found key={session.data.user.userId} userId={session.data.user.userId} card={card} />
        ) : (
          <Loading />
        )}
      </StatusPage>
    </div>
  )
}

function Found({ userId, card }: { userId: string; card: string }) {
  useEffect(adoptSignedInAccount, [])
  // Not read again while the form is filled in.
  const { data, error, refetch, isFetching } = useQuery({ ...dashboardQuery(userId, true), refetchInterval: false })
  const keep = (
    <Actions>
      <ButtonLink {...toCard(card)} variant="secondary">
        Back to the class
      </ButtonLink>
    </Actions>
  )
  if (error && !data) {
    return (
      <Notice kind="error" title="We could not load this class." live>
        <Button variant="secondary" onClick={() => void refetch()} pending={isFetching}>
          Try again
        </Button>
      </Notice>
    )
  }
  if (!data) return <Loading />
  const cards = data.classes?.cards.filter(({ registrationId }) => registrationId === card) ?? []
  const [first] = cards
  const places = cards.flatMap((one) => one.places ?? []).filter(({ status }) => status === 'seated')
  if (!first || places.length === 0) {
    return (
      <>
        <Notice
          title={data.classes ? 'There is no such class in your account.' : 'We cannot show your classes right now.'}
        />
        {keep}
      </>
    )
  }
  if (first.kit?.status === 'shipped') {
    return (
      <>
        <Notice title="The kit is on its way, so this can no longer be corrected. Write to us if something came up." />
        {keep}
      </>
    )
  }
  return <Correction card={first} places={places} />
}

type Places = NonNullable<DashboardCard['places']>
type Values = Record<string, string>

const nameOf = (index: number) => `children.${index}.childName`
const ageOf = (index: number) => `children.${index}.childAge`
const partOf = (part: (typeof addressFields)[number]) => `address.${part}`

function Correction({ card, places }: { card: DashboardCard; places: Places }) {
  const { registrationId, address, waiver } = card
  const [before] = useState<Values>(() =>
    Object.fromEntries([
      ...places.flatMap(({ childName, childAge }, index) => [
        [nameOf(index), childName],
        [ageOf(index), String(childAge)],
      ]),
      ...addressFields.map((part) => [partOf(part), address[part]]),
    ]),
  )
  const form = useForm<Values>(useState(before), 'Nothing was saved. Please try again.')
  const { values, errors, message, pending, submit } = form
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const save = async () => {
    if (Object.keys(before).some((name) => before[name] !== values[name])) {
      const children = places.map(({ placeId }, index) => ({
        placeId,
        childName: values[nameOf(index)],
        childAge: Number((values[ageOf(index)] ?? '').trim() || Number.NaN),
      }))
      const body = { children, address: Object.fromEntries(addressFields.map((part) => [part, values[partOf(part)]])) }
      await api(`/api/registrations/${registrationId}/correction`, { method: 'POST', body, answer: corrected })
      await queryClient.invalidateQueries({ queryKey: ['dashboard'] })
    }
    await navigate({ ...toCard(registrationId), replace: true })
  }
  // The server names a child who is there twice as a sibling.
  const errorOf = (name: string, index: number) => errors[name] ?? errors[`siblings.${index - 1}.childName`]
  const order = Object.keys(before)
  return (
    <Card>
      {waiver && <Notice title="What you signed stays as you signed it." />}
      <Form message={message} onSubmit={() => submit(save)}>
        <Problems errors={errors} order={order} />
        {places.map(({ placeId }, index) => (
          <fieldset key={placeId} className={styles.child}>
            <legend>{places.length > 1 ? `Child ${index + 1}` : 'Child'}</legend>
            <Field
              {...form.field(nameOf(index))}
              error={errorOf(nameOf(index), index)}
              label="Child’s first name"
              autoComplete="off"
              required
            />
            <Field
              {...form.field(ageOf(index))}
              label="Child’s age"
              inputMode="numeric"
              autoComplete="off"
              maxLength={4}
              required
            />
          </fieldset>
        ))}
        <AddressFields field={(part) => form.field(partOf(part))} />
        <Actions>
          <Button type="submit" pending={pending}>
            Save
          </Button>
          <ButtonLink {...toCard(registrationId)} variant="secondary">
            Keep it as it is
          </ButtonLink>
        </Actions>
      </Form>
    </Card>
  )
}

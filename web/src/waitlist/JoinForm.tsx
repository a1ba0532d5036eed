import { formatClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { fullText, waitingTerms } from '@robokids/contracts/waitlist-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { isRefusal } from '../api/refusals.ts'
import { readersTimeZone } from '../browser/readers-time-zone.ts'
import { uuidV7 } from '../browser/uuid-v7.ts'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { offerOf, totalOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { ClassMoment } from '../classes/ClassMoment.tsx'
import { levels } from '../classes/level-looks.ts'
import { MessageLine } from '../forms/Form.tsx'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { ChildrenFields } from '../registration/ChildrenFields.tsx'
import { fieldsInOrder } from '../registration/sign-up-fields.ts'
import type { SignUpValues } from '../registration/sign-up-values.ts'
import { useSignUpValues } from '../registration/use-sign-up-values.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { CheckFields } from '../ui/CheckFields.tsx'
import { Details } from '../ui/Details.tsx'
import { DisabledUntilHydrated } from '../ui/DisabledUntilHydrated.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { waitlistView } from './answers.ts'
import type { WaitingContent } from './read-waiting.ts'
import { waitlistQuery } from './waitlist-query.ts'
import styles from './Waitlist.module.css'

const idOf = (field: string) => `waitlist-${field.replaceAll('.', '-')}`

/** The validation is loaded when the user starts typing. */
const loadChecks = () => import('./read-waiting.ts')

/**
 * The form of the waitlist: the sign-up form without the address, and without payment. It begins with what was typed there, and
 * keeps what is typed here for it.
 */
export function JoinForm({ classType, startDate }: { classType: LevelClassType; startDate: string }) {
  const { values, keep, family } = useSignUpValues(startDate)
  const { pending, message, errors, showError, clearError, submit } = useSubmit('Something went wrong.')
  const [refusals, setRefusals] = useState(0)
  const [hasSeats, setHasSeats] = useState(false)
  /** A repetition of the same content has the same id. */
  const sent = useRef<{ content: string; id: string } | null>(null)
  const classes = useQuery(classesQuery)
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const offer = classes.data && offerOf(classes.data, classType)
  const session = offer?.sessions.find(({ date }) => date === startDate)
  const count = values.children.length
  const isOpen = hasSeats || (session !== undefined && session.seatsLeft >= count)
  const price = offer && totalOf(offer, count)
  const who = count === 1 ? '1 child' : `${count} children`

  const change = (changes: Partial<SignUpValues>, ...fields: string[]) => {
    keep({ ...values, ...changes })
    loadChecks().catch(() => undefined)
    prepareProof('waitlist')
    clearError(...fields)
    setHasSeats(false)
  }

  const join = async () => {
    const { readWaiting } = await importOrReload(loadChecks)
    const read = readWaiting({ ...values, startDate }, classType)
    if ('errors' in read) {
      flushSync(() => {
        showError(null, read.errors)
        setRefusals((before) => before + 1)
      })
      const first = fieldsInOrder(count).find((field) => read.errors[field])
      if (first) document.getElementById(idOf(first))?.focus()
      return
    }
    try {
      const entry = await send(read.content)
      queryClient.setQueryData(waitlistQuery(entry.entryId).queryKey, entry)
      void queryClient.invalidateQueries(classesQuery)
      await navigate({ to: '/waitlist', search: { reference: entry.entryId }, replace: true })
    } catch (error) {
      if (isRefusal(error, 'class_not_full')) setHasSeats(true)
      const reference = isRefusal(error, 'already_waiting') ? error.details.reference : undefined
      if (typeof reference === 'string') return navigate({ to: '/waitlist', search: { reference } })
      throw error
    }
  }

  const send = (content: WaitingContent) => {
    const text = JSON.stringify(content)
    if (sent.current?.content !== text) sent.current = { content: text, id: uuidV7() }
    return provenApi('waitlist', '/api/waitlist', {
      method: 'POST',
      body: { id: sent.current.id, ...content, familyTimeZone: readersTimeZone() },
      answer: waitlistView,
    })
  }

  const text = (name: 'guardianName' | 'email') => ({
    id: idOf(name),
    name,
    error: errors[name],
    value: values[name],
    onChange: (event: { target: { value: string } }) => change({ [name]: event.target.value }, name),
  })

  return (
    <StatusPage title="Join the waitlist">
      <Card accent={levels[classType].accent}>
        <Details
          rows={[
            ['Class', offer?.title ?? openingLevels[classType].title],
            [
              'Start date',
              session ? <ClassMoment date={startDate} time={session.startTime} /> : formatClassDate(startDate),
            ],
            [
              'Seats',
              session?.seatsLeft === 0 ? fullText(session.familiesWaiting ?? 0) : seatsText(session?.seatsLeft),
            ],
            [
              'Price',
              price ? `${formatMoney(price.total)} for ${who}, when you take the seats` : 'Shown with the seats',
            ],
          ]}
        />
      </Card>
      {isOpen && (
        <>
          <Notice title="There are seats for you right now." live>
            <p>You don’t need to wait. What you typed is in the form already.</p>
          </Notice>
          <Actions>
            <ButtonLink to={levels[classType].path} search={{ startDate }}>
              Register now
            </ButtonLink>
          </Actions>
        </>
      )}
      {classes.data && !session && (
        <>
          <Notice kind="error" title="This class date is not offered." live />
          <Actions>
            <ButtonLink to="/levels">See other dates</ButtonLink>
          </Actions>
        </>
      )}
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          submit(join)
        }}
      >
        <MessageLine message={message} />
        <DisabledUntilHydrated>
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
              hint="We send your place in line and the offer here."
              type="email"
              inputMode="email"
              autoComplete="email"
              autoCapitalize="none"
              spellCheck={false}
              required
            />
          </fieldset>
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
            <p aria-live="polite">{waitingTerms(count)}</p>
            <Button type="submit" pending={pending} variant={isOpen ? 'secondary' : 'primary'}>
              {`Join with ${who}`}
            </Button>
          </div>
        </DisabledUntilHydrated>
        <CheckFields refused={refusals} />
      </form>
    </StatusPage>
  )
}

function seatsText(left: number | undefined): string {
  if (left === undefined) return 'Full'
  return left === 1 ? '1 seat left' : `${left} seats left`
}

import type { AgreementTerms } from '@robokids/contracts/agreement'
import type { Address } from '@robokids/contracts/enrollment'
import { registrationTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { paymentPageMinutes, unopenedHoldMinutes } from '@robokids/contracts/seat-hold'
import type { WaitlistView } from '@robokids/contracts/waitlist'
import { seatCount } from '@robokids/contracts/waitlist-texts'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useEffect, useState } from 'react'
import { flushSync } from 'react-dom'
import { PayBar } from '../checkout/PayBar.tsx'
import { Actions, StatusPage } from '../checkout/StatusPage.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { offerOf, totalOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { isLevel } from '../classes/level-looks.ts'
import { MessageLine } from '../forms/Form.tsx'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { AddressFields } from '../registration/AddressFields.tsx'
import { registerAnswer } from '../registration/answers.ts'
import { saveRecords } from '../registration/record.ts'
import { addressFields, type SignUpValues } from '../registration/sign-up-values.ts'
import { useSignUpValues } from '../registration/use-sign-up-values.ts'
import { Button } from '../ui/Button.tsx'
import { CheckFields } from '../ui/CheckFields.tsx'
import { DisabledUntilHydrated } from '../ui/DisabledUntilHydrated.tsx'
import { DeclineButton } from './DeclineButton.tsx'
import { readersMoment, schoolMoment, timeLeft } from './offer-time.ts'
import { waitlistQuery } from './waitlist-query.ts'
import styles from './Waitlist.module.css'

const loadChecks = () => import('./read-address.ts')
const idOf = (field: string) => `offer-${field}`

/** The time, every few seconds: enough for a text that changes by the minute. */
function useNow(): number {
  const [now, setNow] = useState(() => Date.now())
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 5_000)
    return () => clearInterval(timer)
  }, [])
  return now
}

interface OfferProps {
  entry: WaitlistView
  /** The class and the children. */
  children: ReactNode
  /** Shown from the end of the offer on, also before the server says so. */
  ended: ReactNode
}

/** Seats that are held for a family of the line. Nothing happens until it presses one of the two buttons. */
export function Offer({ entry, children, ended }: OfferProps) {
  const { entryId, classType, startDate, offerEndsAt } = entry
  const count = entry.children.length
  const [seats, are, them] = count === 1 ? ['seat', 'is', 'it'] : ['seats', 'are', 'them']
  const left = timeLeft(offerEndsAt ?? '', useNow())
  const { values, keep } = useSignUpValues(undefined)
  const { pending, message, errors, showError, clearError, submit } = useSubmit('Something went wrong.')
  const [refusals, setRefusals] = useState(0)
  const [refused, setRefused] = useState<{ way: Way; agreed: AgreementTerms | undefined; address: Address } | null>(
    null,
  )
  const { leaving, leaveFor } = useExternalRedirect()
  const queryClient = useQueryClient()
  const classes = useQuery(classesQuery)
  const level = classes.data && isLevel(classType) ? offerOf(classes.data, classType) : undefined
  const price = level && totalOf(level, count).total
  const terms =
    level &&
    registrationTerms({
      classType,
      startDate,
      children: count,
      siblingJoinsFree: level.siblingJoinsFree,
      unitAmount: level.price.amount,
    })

  const take = async (address: Address, agreed: AgreementTerms | undefined) => {
    try {
      const { checkoutUrl, registrationId } = await provenApi('payment', `/api/waitlist/${entryId}/accept`, {
        method: 'POST',
        body: { ...address, agreed },
        answer: registerAnswer,
      })
      const [first, ...siblings] = entry.children.map(({ childName, childAge }) => ({
        childName,
        childAge: String(childAge),
      }))
      saveRecords({
        registrationId,
        guardianName: entry.guardianName,
        email: entry.email,
        childName: first?.childName ?? '',
        childAge: first?.childAge ?? '',
        siblings,
        ...address,
        startDate,
        classType,
        timestamp: new Date().toISOString(),
      })
      leaveFor(checkoutUrl)
    } catch (error) {
      const way = wayOnFrom(error)
      if (way) setRefused({ way, agreed, address })
      void queryClient.invalidateQueries(waitlistQuery(entryId))
      void queryClient.invalidateQueries(classesQuery)
      if (!way) throw error
    }
  }

  const checkAndTake = async () => {
    const { readAddress } = await importOrReload(loadChecks)
    const { addressLine1, addressLine2, city, state, zipCode } = values
    const read = readAddress({ addressLine1, addressLine2, city, state, zipCode })
    if ('address' in read) return take(read.address, terms)
    flushSync(() => {
      showError(null, read.errors)
      setRefusals((before) => before + 1)
    })
    const first = addressFields.find((field) => read.errors[field])
    if (first) document.getElementById(idOf(first))?.focus()
  }

  const keepAnswer = (now: WaitlistView) => queryClient.setQueryData(waitlistQuery(entryId).queryKey, now)

  if (offerEndsAt === null || (left === null && !pending && !leaving)) return ended
  const text = (name: (typeof addressFields)[number]) => ({
    id: idOf(name),
    name,
    error: errors[name],
    value: values[name],
    onChange: (event: { target: { value: string } }) => {
      const changes: Partial<SignUpValues> = { [name]: event.target.value }
      keep({ ...values, ...changes })
      loadChecks().catch(() => undefined)
      prepareProof('payment')
      clearError(name)
    },
  })
  const theirs = readersMoment(offerEndsAt)
  return (
    <StatusPage title={`${seatCount(count)} ${are} yours until ${schoolMoment(offerEndsAt)}.`}>
      <p className={styles.left}>{[left, theirs && `That is ${theirs}.`].filter(Boolean).join(' ')}</p>
      {children}
      <form
        className={styles.form}
        noValidate
        onSubmit={(event) => {
          event.preventDefault()
          if (!leaving) submit(checkAndTake)
        }}
      >
        <MessageLine message={message} />
        <DisabledUntilHydrated>
          <AddressFields field={text} />
          <p className={styles.aside}>
            {`Once you take ${them}, we hold ${them} for ${unopenedHoldMinutes} minutes, and for ${paymentPageMinutes} once the card page opens. You won’t be charged until you confirm there.`}
          </p>
          <PayBar
            total={
              <>
                <span>{`For ${seatCount(count)}`}</span>
                <strong>{price ? formatMoney(price) : 'Shown on the card page'}</strong>
              </>
            }
          >
            <Button type="submit" pending={pending || leaving}>
              {`Take the ${seats}${price ? `, ${formatMoney(price)}` : ''}`}
            </Button>
          </PayBar>
        </DisabledUntilHydrated>
        <CheckFields refused={refusals} />
      </form>
      <Actions>
        <DeclineButton entry={entry} disabled={pending || leaving} onDeclined={keepAnswer} />
      </Actions>
      <WayOn
        from="form"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(now) => {
          setRefused(null)
          if (refused) submit(() => take(refused.address, now))
        }}
        onClose={() => setRefused(null)}
      />
    </StatusPage>
  )
}

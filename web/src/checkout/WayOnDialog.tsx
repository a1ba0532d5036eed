import type { Agreement, AgreementTerms } from '@robokids/contracts/agreement'
import { formatMoney } from '@robokids/contracts/pricing'
import type { ReactNode } from 'react'
import { Row } from '../forms/Form.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { changeOf, compareTerms } from './compare-terms.ts'
import { useExternalRedirect } from './use-external-redirect.ts'
import type { WayOn } from './way-on.ts'
import styles from './WayOnDialog.module.css'

interface WayOnDialogProps {
  wayOn: WayOn
  /** The terms that were agreed to and rejected. */
  agreed?: AgreementTerms | undefined
  /** The text of the terms that are offered now. */
  children?: ReactNode
  /** Agrees to the terms that are offered now. */
  onAgree?: (terms: AgreementTerms) => void
  /** The page to return to. */
  from: keyof typeof places
  /** Called before the link to the paid purchase is followed. */
  onLeave?: () => void
  /** Called to return to the page without any change. */
  onClose: () => void
}

const registered = {
  page: '/robokids/success',
  title: 'You’re already registered',
  link: 'See your registration',
} as const

const places = {
  form: {
    ...registered,
    aside: 'To register another child or choose another class, change the form and submit it again.',
    back: 'Back to the form',
  },
  payment: { ...registered, aside: 'You don’t need to pay for this one.', back: 'Not now' },
  cart: {
    page: '/shop/success',
    title: 'You already ordered this',
    link: 'See your order',
    aside: 'Seeing your order empties your cart. If you want to order these items again, keep the cart.',
    back: 'Back to your cart',
  },
  profile: {
    page: '/profile',
    title: 'This is already paid',
    link: 'See your profile',
    aside: '',
    back: 'Keep it as is',
  },
} as const

export function WayOnDialog({ wayOn, onClose, ...rest }: WayOnDialogProps) {
  switch (wayOn.kind) {
    case 'agree':
      return <NewOffer agreement={wayOn.agreement} onClose={onClose} {...rest} />
    case 'paid before':
      return <PaidBefore {...wayOn} onClose={onClose} {...rest} />
    case 'confirm':
      return <Confirm {...wayOn} onClose={onClose} />
  }
}

type Part<Names extends keyof WayOnDialogProps> = Pick<WayOnDialogProps, Names | 'from' | 'onClose'>

function NewOffer({
  agreement: { terms },
  agreed,
  children,
  onAgree,
  from,
  onClose,
}: Part<'agreed' | 'children' | 'onAgree'> & { agreement: Agreement }) {
  const { title, amounts } = changeOf(agreed, terms)
  const { dueNow, currency } = terms
  return (
    <Dialog open role="alertdialog" title={title} onClose={onClose}>
      {amounts && (
        <p className={styles.amounts}>
          <span>{amounts.before}</span>{' '}
          <span>
            <span aria-hidden="true">→</span>
            <span className="visually-hidden">is now</span>
          </span>{' '}
          <strong>{amounts.now}</strong>
        </p>
      )}
      <table className={styles.terms}>
        <caption className="visually-hidden">What it was, and what it is now</caption>
        <thead>
          <tr>
            <th scope="col">Before</th>
            <th scope="col">Now</th>
          </tr>
        </thead>
        {compareTerms(agreed, terms).map(({ name, before, now }) => (
          <tbody key={name}>
            <tr>
              <th scope="rowgroup" colSpan={2}>
                {name}
              </th>
            </tr>
            {before === now ? (
              <tr>
                <td colSpan={2}>{now}</td>
              </tr>
            ) : (
              <tr>
                <td>{before || '–'}</td>
                <td className={styles.changed}>{now || '–'}</td>
              </tr>
            )}
          </tbody>
        ))}
      </table>
      {children}
      <p className={styles.aside}>You weren’t charged, and nothing you typed is lost.</p>
      <Row>
        <Button onClick={() => onAgree?.(terms)}>
          {dueNow > 0 ? `Agree to ${formatMoney({ amount: dueNow, currency })} and continue` : 'Agree and continue'}
        </Button>
        <Button variant="secondary" onClick={onClose}>
          {places[from].back}
        </Button>
      </Row>
    </Dialog>
  )
}

function PaidBefore({
  reference,
  message,
  from,
  onLeave,
  onClose,
}: Part<'onLeave'> & { reference: string; message: string }) {
  const { page, title, link, aside, back } = places[from]
  return (
    <Dialog open role="alertdialog" title={title} onClose={onClose}>
      {message && <p>{message}</p>}
      <p>It’s paid, or the payment is being processed. You weren’t charged this time.</p>
      {aside && <p className={styles.aside}>{aside}</p>}
      <Row>
        <ButtonLink to={page} search={{ reference }} {...(onLeave ? { onClick: onLeave } : {})}>
          {link}
        </ButtonLink>
        <Button variant="secondary" onClick={onClose}>
          {from === 'cart' ? 'Keep this cart' : back}
        </Button>
      </Row>
    </Dialog>
  )
}

function Confirm({ url, onClose }: Pick<WayOnDialogProps, 'onClose'> & { url: string }) {
  const { leaving, leaveFor } = useExternalRedirect()
  return (
    <Dialog open role="alertdialog" title="Your bank needs you to confirm" onClose={onClose}>
      <p>
        Your bank wants to be sure it’s you. Confirm on our payment provider’s page, perhaps with your banking app. Your
        plan doesn’t change and you aren’t charged until you do.
      </p>
      <Row>
        <Button onClick={() => leaveFor(url)} pending={leaving}>
          Confirm the payment
        </Button>
        <Button variant="secondary" onClick={onClose}>
          Not now
        </Button>
      </Row>
    </Dialog>
  )
}

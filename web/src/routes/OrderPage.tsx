import { formatMoney } from '@robokids/contracts/pricing'
import type { Order } from '@robokids/contracts/shop'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { Details, type Row } from '../components/Details.tsx'
import { Actions } from '../components/EnrollmentPage.tsx'
import { forgetOrdered } from '../shop/cart-order.ts'
import { disputeText } from '../registration/disputes.ts'
import { isUndecided, isUnknown, orderQuery } from '../shop/queries.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import styles from './OrderPage.module.css'

const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })

/** Where the card page leads back to: what is really paid is the server's to say. */
export function OrderPage() {
  const { reference } = useSearch({ strict: false })
  return reference ? <Checked reference={reference} /> : <Unknown />
}

function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles['page']}>
      <h1 aria-live="polite">{title}</h1>
      {children}
    </div>
  )
}

const toShop = (
  <Actions>
    <ButtonLink to="/shop">Go to the shop</ButtonLink>
  </Actions>
)

function Unknown() {
  return (
    <Page title="Your order">
      <Notice kind="error" title="We know no order with this reference.">
        <p>Please use the link in your email.</p>
      </Notice>
      {toShop}
    </Page>
  )
}

function Checked({ reference }: { reference: string }) {
  const { data, error, errorUpdateCount } = useQuery(orderQuery(reference))
  const isPaid = data !== undefined && data.status !== 'unpaid'
  useEffect(() => {
    if (isPaid) forgetOrdered(reference)
  }, [isPaid, reference])

  if (data) return <Told order={data} />
  if (isUnknown(error)) return <Unknown />
  if (errorUpdateCount > 0) {
    return (
      <Page title="Your order">
        <Notice title="We cannot reach our order desk right now." live>
          <p>If you have paid, your payment is safe with us. This page asks again by itself.</p>
        </Notice>
      </Page>
    )
  }
  return (
    <div className={styles['page']} aria-busy="true">
      <h1>One moment</h1>
      <p aria-live="polite">Loading your order...</p>
      <Skeleton height="12rem" />
    </div>
  )
}

/** Money that went back, or is on its way, of what was paid for the order itself. */
function backOf({ refunds }: Order) {
  const ofOrder = refunds.filter(({ reason }) => reason !== 'duplicate' && reason !== 'amount_mismatch')
  const sum = (status: string) =>
    ofOrder.filter((refund) => refund.status === status).reduce((total, { amount }) => total + amount, 0)
  return { done: sum('succeeded'), pending: sum('pending'), failed: sum('failed') }
}

function rowsOf(order: Order): Row[] {
  const { lines, shipTo, email, receiptNumber, trackingNumber } = order
  const { done, pending } = backOf(order)
  return [
    ...lines.map(({ name, quantity, unitAmount, state }): Row => [
      quantity > 1 ? `${name} × ${quantity}` : name,
      `${usd(unitAmount * quantity)}${state === 'pre_order' ? ', pre-order' : ''}`,
    ]),
    ['Total', formatMoney(order)],
    ...(receiptNumber === null ? [] : [['Receipt', receiptNumber] as const]),
    ...(done > 0 ? [['Refunded', usd(done)] as const] : []),
    ...(pending > 0 ? [['Refund on its way', usd(pending)] as const] : []),
    ...(trackingNumber === null ? [] : [['Tracking number', trackingNumber] as const]),
    ...(email === null ? [] : [['Email', email] as const]),
    ...(shipTo === null
      ? []
      : [
          [
            'Ships to',
            <>
              {shipTo.name}
              <br />
              {shipTo.addressLine1}
              {shipTo.addressLine2 !== '' && (
                <>
                  <br />
                  {shipTo.addressLine2}
                </>
              )}
              <br />
              {shipTo.city}, {shipTo.state} {shipTo.zipCode}
            </>,
          ] as const,
        ]),
  ]
}

function standingOf(order: Order): { title: string; notice: ReactNode; again?: boolean } {
  const { status, checkout, lines } = order
  const { done, pending, failed } = backOf(order)
  const part = done > 0 && (
    <p>{usd(done)} of it went back to your card. Banks usually take 5 to 10 business days to show a refund.</p>
  )
  const owed = failed > done + pending && (
    <p>A refund of {usd(failed)} did not go through at your bank. We still owe it to you, and will write to you.</p>
  )
  const disputed = order.disputes?.map((dispute, index) => <p key={index}>{disputeText(dispute)}</p>)
  const twice = order.refunds.some(({ reason }) => reason === 'duplicate' || reason === 'amount_mismatch') && (
    <p>What was paid beside the price went back to your card, or is on its way.</p>
  )
  switch (status) {
    case 'refunded':
      return {
        title: 'Your order is refunded',
        notice: (
          <Notice title={`${usd(done)} went back to your card.`} live>
            <p>Banks usually take 5 to 10 business days to show a refund. Nothing will be shipped.</p>
          </Notice>
        ),
      }
    case 'shipped':
      return {
        title: 'Your order is on its way',
        notice: (
          <Notice kind="success" title="We have shipped it." live>
            {part}
            {owed}
            {disputed}
          </Notice>
        ),
      }
    case 'paid': {
      const ahead = lines.some(({ state }) => state === 'pre_order')
      return {
        title: ahead ? 'Thank you for your pre-order' : 'Thank you for your order',
        notice: (
          <Notice kind="success" title={`Your payment of ${formatMoney(order)} has arrived.`} live>
            <p>
              {ahead
                ? 'We ship it as soon as it is made, and write to you on that day. The confirmation is in your mailbox.'
                : 'We ship it within days. The confirmation is in your mailbox.'}
            </p>
            {part}
            {owed}
            {twice}
            {disputed}
          </Notice>
        ),
      }
    }
    case 'unpaid':
      if (isUndecided(order) && checkout.lastDecline === null) {
        return {
          title: 'Your payment is being processed',
          notice: (
            <Notice title="We have not heard of your payment yet." live>
              <p>If you have just paid, this page turns by itself in a moment. We will email you, too.</p>
            </Notice>
          ),
          again: checkout.status === 'open',
        }
      }
      return {
        title: 'Your order is not paid',
        notice: (
          <Notice kind="error" title="You were not charged." live>
            <p>{checkout.lastDecline ?? 'The card page was closed before a payment was made.'}</p>
            {twice}
          </Notice>
        ),
        again: true,
      }
  }
}

function Told({ order }: { order: Order }) {
  const { title, notice, again = false } = standingOf(order)
  return (
    <Page title={title}>
      {notice}
      <Card>
        <Details rows={rowsOf(order)} />
      </Card>
      <Actions>
        <ButtonLink to="/shop" variant={again ? 'primary' : 'secondary'}>
          {again ? 'Back to your cart' : 'Back to the shop'}
        </ButtonLink>
      </Actions>
    </Page>
  )
}

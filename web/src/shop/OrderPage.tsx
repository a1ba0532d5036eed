import { disputeText } from '@robokids/contracts/disputes'
import { formatMoney } from '@robokids/contracts/pricing'
import type { Order } from '@robokids/contracts/shop'
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { type ReactNode, useEffect } from 'react'
import { LongWait } from '../checkout/LongWait.tsx'
import { Actions } from '../checkout/StatusPage.tsx'
import { asWritten } from '../ui/AsWritten.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details, Lines, type Row } from '../ui/Details.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { forgetOrdered } from './cart-order.ts'
import { toOrderDisplayStatus } from './order-status.ts'
import styles from './OrderPage.module.css'
import { isUndecided, isUnknown, orderQuery } from './queries.ts'

const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })

/** The return page of the payment: the server says what was paid. */
export function OrderPage() {
  const { reference } = useSearch({ from: '/shop/success' })
  return reference ? <OrderLoader reference={reference} /> : <Unknown />
}

function Page({ title, children }: { title: string; children: ReactNode }) {
  return (
    <div className={styles.page}>
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
      <Notice kind="error" title="We can’t find an order with this reference.">
        <p>Please use the link in your email.</p>
      </Notice>
      {toShop}
    </Page>
  )
}

function OrderLoader({ reference }: { reference: string }) {
  const { data, error, errorUpdateCount } = useQuery(orderQuery(reference))
  const isPaid = data !== undefined && data.status !== 'unpaid'
  useEffect(() => {
    if (isPaid) forgetOrdered(reference)
  }, [isPaid, reference])

  if (data) return <OrderDetails order={data} />
  if (isUnknown(error)) return <Unknown />
  if (errorUpdateCount > 0) {
    return (
      <Page title="Your order">
        <Notice title="We can’t check your order right now." live>
          <p>If you’ve paid, your payment is safe with us. This page keeps checking.</p>
        </Notice>
        <LongWait reference={reference} />
      </Page>
    )
  }
  return (
    <div className={styles.page} aria-busy="true">
      <h1>One moment</h1>
      <p aria-live="polite">Loading your order...</p>
      <Skeleton height="12rem" />
      <TakesLonger />
    </div>
  )
}

function rowsOf(order: Order): Row[] {
  const { lines, shipTo, email, receiptNumber, trackingNumber } = order
  const { done, pending, owed } = toOrderDisplayStatus(order).back
  return [
    ...lines.map(({ name, quantity, unitAmount, state }): Row => [
      quantity > 1 ? `${name} × ${quantity}` : name,
      `${usd(unitAmount * quantity)}${state === 'pre_order' ? ', pre-order' : ''}`,
    ]),
    ['Total', formatMoney(order)],
    ...(receiptNumber === null ? [] : [['Receipt', receiptNumber] as const]),
    ...(done > 0 ? [['Refunded', usd(done)] as const] : []),
    ...(pending > 0 ? [['Refund on its way', usd(pending)] as const] : []),
    ...(owed > 0 ? [['Failed refund', `${usd(owed)}, still owed to you`] as const] : []),
    ...(trackingNumber === null ? [] : [['Tracking number', trackingNumber] as const]),
    ...(email === null ? [] : [['Email', asWritten(email)] as const]),
    ...(shipTo === null
      ? []
      : [
          [
            'Ships to',
            <Lines
              key="address"
              of={[
                shipTo.name,
                shipTo.addressLine1,
                shipTo.addressLine2,
                `${shipTo.city}, ${shipTo.state} ${shipTo.zipCode}`,
              ]}
            />,
          ] as const,
        ]),
  ]
}

const banks = 'Banks usually take 5 to 10 business days to show a refund.'

function toldOf(order: Order): { title: string; notice: ReactNode; again?: boolean } {
  const { checkout, lines } = order
  const { kind, wasShipped, back } = toOrderDisplayStatus(order)
  const { done, pending, owed } = back
  const ships = wasShipped ? 'It’s for what we had shipped to you.' : 'Nothing will be shipped.'
  const part = done > 0 && <p>{`${usd(done)} of it was refunded to your card. ${banks}`}</p>
  const stillOwed = owed > 0 && (
    <p>{`A refund of ${usd(owed)} did not go through at your bank. We still owe you this money and will email you.`}</p>
  )
  const disputed = order.disputes?.map((dispute, index) => <p key={index}>{disputeText(dispute)}</p>)
  const twice = order.refunds.some(({ reason }) => reason === 'duplicate' || reason === 'amount_mismatch') && (
    <p>What was paid beyond the price has been or is being refunded to your card.</p>
  )
  switch (kind) {
    case 'returning':
      return {
        title: 'Your refund is on its way',
        notice: (
          <Notice title={`${usd(pending)} is being refunded to your card.`} live>
            <p>{`You don’t need to do anything. ${ships}`}</p>
            {part}
          </Notice>
        ),
      }
    case 'returned':
      return {
        title: wasShipped ? 'Your returned order is refunded' : 'Your order is refunded',
        notice: (
          <Notice title={`${usd(done)} was refunded to your card.`} live>
            <p>{`${banks} ${ships}`}</p>
          </Notice>
        ),
      }
    case 'owed':
      return {
        title: wasShipped ? 'Your order was returned' : 'Your order is canceled',
        notice: (
          <Notice kind="error" title={`Your bank didn’t accept the refund of ${usd(owed)}.`} live>
            <p>{`We still owe you this money, and will email you and send it another way. ${ships}`}</p>
            {part}
          </Notice>
        ),
      }
    case 'lost':
      return {
        title: 'Your bank returned your payment',
        notice: (
          <Notice title={wasShipped ? 'This order is closed.' : 'This order is closed. Nothing will be shipped.'} live>
            {disputed}
            {part}
          </Notice>
        ),
      }
    case 'disputed':
      return {
        title: 'Your payment is disputed',
        notice: (
          <Notice title="Nothing can be shipped until your bank decides." live>
            {disputed}
            {part}
            {stillOwed}
          </Notice>
        ),
      }
    case 'shipped':
      return {
        title: 'Your order is on its way',
        notice: (
          <Notice kind="success" title="We’ve shipped it." live>
            {part}
            {stillOwed}
            {disputed}
          </Notice>
        ),
      }
    case 'paid': {
      const ahead = lines.some(({ state }) => state === 'pre_order')
      return {
        title: ahead ? 'Thank you for your pre-order' : 'Thank you for your order',
        notice: (
          <Notice kind="success" title={`We received your payment of ${formatMoney(order)}.`} live>
            <p>
              {ahead
                ? 'We’ll ship it as soon as it’s made and email you that day. The confirmation is in your inbox.'
                : 'We’ll ship it within a few days. The confirmation is in your inbox.'}
            </p>
            {part}
            {stillOwed}
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
            <>
              <Notice title="We haven’t received your payment yet." live>
                <p>If you just paid, this page will update in a moment. We’ll email you, too.</p>
              </Notice>
              <LongWait reference={order.orderId} />
            </>
          ),
          again: checkout.status === 'open',
        }
      }
      return {
        title: 'Your order is not paid',
        notice: (
          <Notice kind="error" title="You weren’t charged." live>
            <p>{checkout.lastDecline ?? 'The card page was closed before a payment was made.'}</p>
            {twice}
          </Notice>
        ),
        again: true,
      }
  }
}

function OrderDetails({ order }: { order: Order }) {
  const { title, notice, again = false } = toldOf(order)
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

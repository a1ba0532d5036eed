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
      <Notice kind="error" title="We know no order with this reference.">
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
        <Notice title="We cannot reach our order desk right now." live>
          <p>If you have paid, your payment is safe with us. This page asks again by itself.</p>
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
    ...(owed > 0 ? [['Refund that failed', `${usd(owed)}, we still owe it to you`] as const] : []),
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
  const ships = wasShipped ? 'It is for what we had shipped to you.' : 'Nothing will be shipped.'
  const part = done > 0 && <p>{`${usd(done)} of it went back to your card. ${banks}`}</p>
  const stillOwed = owed > 0 && (
    <p>{`A refund of ${usd(owed)} did not go through at your bank. We still owe it to you, and will write to you.`}</p>
  )
  const disputed = order.disputes?.map((dispute, index) => <p key={index}>{disputeText(dispute)}</p>)
  const twice = order.refunds.some(({ reason }) => reason === 'duplicate' || reason === 'amount_mismatch') && (
    <p>What was paid beside the price went back to your card, or is on its way.</p>
  )
  switch (kind) {
    case 'returning':
      return {
        title: 'Your money is on its way back',
        notice: (
          <Notice title={`${usd(pending)} is on its way back to your card.`} live>
            <p>{`You do not need to do anything. ${ships}`}</p>
            {part}
          </Notice>
        ),
      }
    case 'returned':
      return {
        title: wasShipped ? 'Your returned order is refunded' : 'Your order is refunded',
        notice: (
          <Notice title={`${usd(done)} went back to your card.`} live>
            <p>{`${banks} ${ships}`}</p>
          </Notice>
        ),
      }
    case 'owed':
      return {
        title: wasShipped ? 'Your order was returned' : 'Your order is cancelled',
        notice: (
          <Notice kind="error" title={`Your bank did not take the refund of ${usd(owed)}.`} live>
            <p>{`We still owe it to you, will send it another way, and write to you. ${ships}`}</p>
            {part}
          </Notice>
        ),
      }
    case 'lost':
      return {
        title: 'Your bank gave the money back',
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
          <Notice title="Until your bank has decided, nothing is shipped." live>
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
          <Notice kind="success" title="We have shipped it." live>
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
          <Notice kind="success" title={`Your payment of ${formatMoney(order)} has arrived.`} live>
            <p>
              {ahead
                ? 'We ship it as soon as it is made, and write to you on that day. The confirmation is in your mailbox.'
                : 'We ship it within days. The confirmation is in your mailbox.'}
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
              <Notice title="We have not heard of your payment yet." live>
                <p>If you have just paid, this page turns by itself in a moment. We will email you, too.</p>
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
          <Notice kind="error" title="You were not charged." live>
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

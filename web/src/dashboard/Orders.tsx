import { formatMoney } from '@robokids/contracts/pricing'
import { schoolDate } from '@robokids/contracts/school-date'
import type { Order } from '@robokids/contracts/shop'
import { Link } from '@tanstack/react-router'
import { toOrderDisplayStatus } from '../shop/order-status.ts'
import { AsWritten } from '../ui/AsWritten.tsx'
import { Section } from '../ui/Section.tsx'
import { Badge } from './Badge.tsx'
import type { Tone } from './card-state.ts'
import { dateOf } from './moments.ts'
import styles from './Orders.module.css'

const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })

function toldOf(order: Order): { badge: string; tone: Tone; text: string } {
  const { kind, back } = toOrderDisplayStatus(order)
  const isAhead = order.lines.some(({ state }) => state === 'pre_order')
  switch (kind) {
    case 'unpaid':
      return { badge: 'Not paid', tone: 'note', text: 'You weren’t charged.' }
    case 'paid':
      return {
        badge: isAhead ? 'Pre-ordered' : 'Paid',
        tone: 'done',
        text: isAhead ? 'We ship it as soon as it’s made, and email you that day.' : 'We ship it within a few days.',
      }
    case 'shipped':
      return {
        badge: 'Shipped',
        tone: 'done',
        text: order.shippedAt ? `Shipped ${dateOf(schoolDate(order.shippedAt))}` : 'Shipped',
      }
    case 'returning':
      return {
        badge: 'Refund on its way',
        tone: 'note',
        text: `${usd(back.pending)} is being refunded to your card. Banks take 5 to 10 days.`,
      }
    case 'returned':
      return { badge: 'Refunded', tone: 'done', text: `${usd(back.done)} was refunded to your card.` }
    case 'owed':
      return {
        badge: 'Refund needs us',
        tone: 'wrong',
        text: 'Your bank did not take the refund. We are on it and will write to you.',
      }
    case 'disputed':
      return { badge: 'Payment disputed', tone: 'note', text: 'Nothing can be shipped until your bank decides.' }
    case 'lost':
      return { badge: 'Refunded', tone: 'done', text: 'Your bank returned your payment.' }
  }
}

/** Each order as a line, with the way to its page. */
export function OrderList({ orders }: { orders: readonly Order[] }) {
  return (
    <ul className={styles.orders}>
      {orders.map((order) => {
        const { badge, tone, text } = toldOf(order)
        const names = order.lines
          .map(({ name, quantity }) => (quantity > 1 ? `${name} × ${quantity}` : name))
          .join(', ')
        return (
          <li key={order.orderId} className={styles.order}>
            <div className={styles.head}>
              <Link to="/shop/success" search={{ reference: order.orderId }} className={styles.name}>
                {names}
              </Link>
              <Badge tone={tone}>{badge}</Badge>
            </div>
            <p className={styles.text}>
              <span>{text}</span>
              {order.trackingNumber !== null && order.shippedAt !== null && (
                <>
                  <span>{' · '}</span>
                  <AsWritten>{order.trackingNumber}</AsWritten>
                </>
              )}
            </p>
          </li>
        )
      })}
    </ul>
  )
}

export function Orders({ orders }: { orders: readonly Order[] }) {
  if (orders.length === 0) return null
  return (
    <Section title="Shop orders">
      <OrderList orders={orders} />
    </Section>
  )
}

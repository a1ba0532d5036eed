import { randomUUID } from 'node:crypto'
import { reconciliationSchema } from '@robokids/contracts/billing'
import { formatMoney } from '@robokids/contracts/pricing'
import { json, OperatorError } from '../operated-system.ts'
import { queryOf, required, segment, wholeNumber, type Call, type Commands } from './command.ts'

const cents = (text: string) => wholeNumber(text, 'An amount in cents')

const dollars = (amount: number) =>
  `${amount < 0 ? '−' : ''}${formatMoney({ amount: Math.abs(amount), currency: 'usd' })}`

/** Compares the ledger with the provider's list; disagreements and unexplained transactions set exit code 1. */
async function compareLedger({ options }: Call) {
  const books = reconciliationSchema.parse(await json('billing', 'POST', '/admin/reconcile'))
  const { stripe, ledger: ours, difference, disagreements, unexplained, accounts } = books
  if (disagreements.length + unexplained.length > 0) process.exitCode = 1
  if (options.json) return { value: books }
  return [
    ...Object.entries(accounts)
      .toSorted(([one], [other]) => one.localeCompare(other))
      .map(([account, amount]) => `${account.padEnd(16)}${dollars(amount).padStart(14)}`),
    `provider        ${dollars(stripe.net).padStart(14)}  in ${stripe.transactions} transactions`,
    `ledger          ${dollars(ours.net).padStart(14)}  in ${ours.transactions} transactions`,
    `difference      ${dollars(difference).padStart(14)}`,
    ...disagreements,
    ...unexplained,
  ].join('\n')
}

const orderColumns = ['orderId', 'status', 'email', 'amount', 'receiptNumber', 'paidAt', 'shippedAt', 'trackingNumber']
const refundColumns = ['createdAt', 'status', 'amount', 'left', 'reason', 'receiptNumber', 'email', 'paymentId']
const disputeColumns = ['disputeId', 'status', 'amount', 'reason', 'answerBy', 'receiptNumber']

export const moneyCommands: Commands = {
  refund: {
    takes: '<registrationId|orderId|receipt> [cents]',
    does: 'refunds a payment, fully or partly: refund RK-000012 500; refund --payment ID [cents] refunds any payment',
    of: ['billing'],
    options: ['payment'],
    changes: true,
    destroys: 'A refund cannot be taken back.',
    async run({ words, options: { payment }, change }) {
      const [whose, amount] = payment === undefined ? words : [payment, ...words]
      if (payment !== undefined && words.length > 1)
        throw new OperatorError(`refund --payment does not take ${words[1]}.`)
      const of = required(whose, 'registration, order, receipt or payment')
      const ids = of.startsWith('RK-') ? { receiptNumber: of } : { registrationId: of }
      const refund = {
        ...(payment === undefined ? ids : { paymentId: of }),
        refundId: randomUUID(),
        ...(amount === undefined ? {} : { amount: cents(amount) }),
      }
      return { value: await change('billing', '/refunds', refund) }
    },
  },
  refunds: {
    does: 'lists completed, pending and failed refunds, newest first, with the payment and its remaining amount',
    of: ['billing'],
    lists: true,
    options: ['status'],
    async run({ options: { status } }) {
      const { refunds } = (await json('billing', 'GET', `/refunds${queryOf({ status })}`)) as { refunds: object[] }
      return { list: { name: 'refunds', rows: refunds, columns: refundColumns, none: 'No refunds.' } }
    },
  },
  disputes: {
    does: 'lists disputed payments, newest first',
    of: ['billing'],
    lists: true,
    async run() {
      const { disputes } = (await json('billing', 'GET', '/disputes')) as { disputes: object[] }
      return { list: { name: 'disputes', rows: disputes, columns: disputeColumns, none: 'No disputes.' } }
    },
  },
  ledger: {
    does: 'compares the ledger with the payment provider’s list',
    of: ['billing'],
    options: ['json'],
    run: compareLedger,
  },
  reconcile: {
    does: 'catches up with the payment provider now, as billing’s job does by itself every few minutes',
    of: ['billing'],
    changes: true,
    async run({ change }) {
      if ((await change('billing', '/admin/jobs/reconcile')) === undefined) return undefined
      return 'The job was woken. npm run admin -- ledger says whether anything is unexplained afterwards.'
    },
  },
  price: {
    takes: '<sku> <cents>',
    does: 'sets a price: price class:basic 42000',
    of: ['billing'],
    changes: true,
    async run({ words: [sku, amount], change }) {
      const price = { sku: required(sku, 'SKU'), amount: cents(required(amount, 'amount')) }
      return { value: await change('billing', '/admin/prices', price) }
    },
  },
  orders: {
    does: 'lists shop orders, newest first',
    of: ['billing'],
    lists: true,
    options: ['status'],
    async run({ options: { status } }) {
      const { orders } = (await json('billing', 'GET', `/orders${queryOf({ status })}`)) as { orders: object[] }
      return { list: { name: 'orders', rows: orders, columns: orderColumns, none: 'No orders.' } }
    },
  },
  'ship-order': {
    takes: '<orderId> [tracking number]',
    does: 'marks an order as shipped',
    of: ['billing'],
    changes: true,
    async run({ words: [id, trackingNumber], change }) {
      const shipment = trackingNumber === undefined ? {} : { trackingNumber }
      return { value: await change('billing', `/orders/${segment(id, 'order')}/shipment`, shipment) }
    },
  },
  product: {
    takes: '<sku> <state>',
    does: 'sets a product’s state: product product:ai-teddy-bear pre_order',
    of: ['billing'],
    changes: true,
    async run({ words: [sku, state], change }) {
      const product = { sku: required(sku, 'SKU'), state: required(state, 'state') }
      return { value: await change('billing', '/admin/products', product) }
    },
  },
}

import { existingIn, invalidRequest } from '../protocol/errors.ts'
import { idOf, newId } from '../protocol/ids.ts'
import { page } from '../protocol/lists.ts'
import {
  boolean,
  clearable,
  email,
  expandParam,
  listParams,
  mergeMetadata,
  metadata,
  notSimulated,
  object,
  optional,
  string,
  timeRange,
} from '../protocol/params.ts'
import { noRequest, type Cause, type Charge, type Dispute } from '../protocol/types.ts'
/** Disputes: a cardholder's bank takes a payment back, with a fee, until the merchant wins it. */
import type { Context } from '../resources/context.ts'
import { get, post, type Routes } from '../resources/routes.ts'
import { newestFirst, type DisputeRecord } from '../store/store.ts'
import { emit, emitChange } from '../webhooks/events.ts'
import { recordBalance } from './balance-transactions.ts'

const day = 24 * 3600
const disputeFee = 1500
/** Documented values of `evidence[uncategorized_text]` that decide a test dispute. */
const decisive: Record<string, 'won' | 'lost'> = { winning_evidence: 'won', losing_evidence: 'lost' }

export const disputeReasons = [
  'credit_not_processed',
  'duplicate',
  'fraudulent',
  'general',
  'product_not_received',
  'product_unacceptable',
  'subscription_canceled',
  'unrecognized',
] as const
export type DisputeReason = (typeof disputeReasons)[number]

const noEvidence: Dispute['evidence'] = {
  access_activity_log: null,
  billing_address: null,
  cancellation_policy: null,
  cancellation_policy_disclosure: null,
  cancellation_rebuttal: null,
  customer_communication: null,
  customer_email_address: null,
  customer_name: null,
  customer_purchase_ip: null,
  customer_signature: null,
  duplicate_charge_documentation: null,
  duplicate_charge_explanation: null,
  duplicate_charge_id: null,
  enhanced_evidence: {},
  product_description: null,
  receipt: null,
  refund_policy: null,
  refund_policy_disclosure: null,
  refund_refusal_explanation: null,
  service_date: null,
  service_documentation: null,
  shipping_address: null,
  shipping_carrier: null,
  shipping_date: null,
  shipping_documentation: null,
  shipping_tracking_number: null,
  uncategorized_file: null,
  uncategorized_text: null,
}

/** Why a charge cannot be disputed; null if it can. */
export function undisputable(charge: Charge): string | null {
  if (charge.status !== 'succeeded') return 'This charge has not succeeded.'
  if (charge.disputed) return 'This charge is disputed already.'
  return charge.refunded ? 'This charge has been refunded.' : null
}

/**
 * Opens a dispute and withdraws the money. An inquiry (`warning`) withdraws nothing.
 */
export function openDispute(
  ctx: Context,
  charge: Charge,
  options: { reason?: DisputeReason; isInquiry?: boolean } = {},
): Dispute {
  const now = ctx.clock.seconds()
  const amount = charge.amount_captured - charge.amount_refunded
  const { reason = 'fraudulent', isInquiry = false } = options
  const dispute: Dispute = {
    id: newId('du_1'),
    object: 'dispute',
    amount,
    balance_transactions: [],
    charge: charge.id,
    created: now,
    currency: charge.currency,
    enhanced_eligibility_types: [],
    evidence: structuredClone(noEvidence),
    evidence_details: {
      due_by: now + 9 * day,
      enhanced_eligibility: {},
      has_evidence: false,
      past_due: false,
      submission_count: 0,
      submission_method: 'not_submitted',
    },
    intended_submission_method: null,
    is_charge_refundable: isInquiry,
    livemode: false,
    metadata: {},
    network_reason_code: reason === 'fraudulent' ? '10.4' : null,
    payment_intent: charge.payment_intent,
    payment_method_details: {
      card: {
        brand: 'visa',
        case_type: isInquiry ? 'inquiry' : 'chargeback',
        network: 'visa',
        network_reason_code: '10.4',
      },
      type: 'card',
    },
    reason,
    status: isInquiry ? 'warning_needs_response' : 'needs_response',
  }
  ctx.store.disputes.set(dispute.id, { object: dispute, settlement: null })
  if (!isInquiry) charge.disputed = true
  ctx.store.save(charge)
  emit(ctx, 'charge.dispute.created', dispute, noRequest)
  if (!isInquiry) {
    moveFunds(ctx, dispute, -amount, disputeFee)
    emit(ctx, 'charge.dispute.funds_withdrawn', dispute, noRequest)
  }
  return dispute
}

function moveFunds(ctx: Context, dispute: Dispute, amount: number, fee: number): void {
  const transaction = recordBalance(ctx, {
    type: 'adjustment',
    source: dispute.id,
    amount,
    currency: dispute.currency,
    description: `Chargeback ${amount < 0 ? 'withdrawal' : 'reversal'} for ${idOf(dispute.charge)}`,
    fee,
    feeDescription: 'Dispute fee',
    reportingCategory: amount < 0 ? 'dispute' : 'dispute_reversal',
  })
  dispute.balance_transactions.push(transaction)
}

export type DisputeOutcome = 'won' | 'lost' | 'warning_closed'

/** Applies the bank's decision. Withdrawn money is only returned if won; the fee never is. */
export function closeDispute(ctx: Context, record: DisputeRecord, outcome: DisputeOutcome, cause: Cause): void {
  const dispute = record.object
  record.settlement = null
  dispute.status = outcome
  dispute.is_charge_refundable = outcome !== 'lost'
  emit(ctx, 'charge.dispute.closed', dispute, cause)
  if (outcome !== 'won' || dispute.balance_transactions.length === 0) return
  moveFunds(ctx, dispute, dispute.amount, 0)
  emit(ctx, 'charge.dispute.funds_reinstated', dispute, cause)
}

export function isOpen({ status }: Dispute): boolean {
  return !['won', 'lost', 'warning_closed', 'prevented'].includes(status)
}

const text = optional(clearable(string(150_000)))
const evidence = object({
  access_activity_log: text,
  billing_address: text,
  cancellation_policy: notSimulated(),
  cancellation_policy_disclosure: text,
  cancellation_rebuttal: text,
  customer_communication: notSimulated(),
  customer_email_address: optional(clearable(email())),
  customer_name: text,
  customer_purchase_ip: text,
  customer_signature: notSimulated(),
  duplicate_charge_documentation: notSimulated(),
  duplicate_charge_explanation: text,
  duplicate_charge_id: text,
  enhanced_evidence: notSimulated(),
  product_description: text,
  receipt: notSimulated(),
  refund_policy: notSimulated(),
  refund_policy_disclosure: text,
  refund_refusal_explanation: text,
  service_date: text,
  service_documentation: notSimulated(),
  shipping_address: text,
  shipping_carrier: text,
  shipping_date: text,
  shipping_documentation: notSimulated(),
  shipping_tracking_number: text,
  uncategorized_file: notSimulated(),
  uncategorized_text: text,
})

function existing({ store }: Context, id: string): DisputeRecord {
  return existingIn(store.disputes, id, 'dispute', 'dispute')
}

function requireOpen(dispute: Dispute): void {
  if (isOpen(dispute)) return
  throw invalidRequest('This dispute is already closed', { param: 'dispute' })
}

export const disputeRoutes: Routes = (route) => {
  route(
    get(
      '/v1/disputes',
      { ...listParams, charge: optional(string()), created: timeRange(), payment_intent: optional(string()) },
      (ctx, { charge, created, payment_intent: intent, ...paging }) => {
        const found = newestFirst(ctx.store.disputes)
          .map((record) => record.object)
          .filter(
            (one) =>
              created(one.created) &&
              (charge === undefined || one.charge === charge) &&
              (intent === undefined || one.payment_intent === intent),
          )
        return page(found, paging, '/v1/disputes', 'dispute')
      },
    ),
  )

  route(get('/v1/disputes/:id', expandParam, (ctx, _params, { id }) => existing(ctx, id).object))

  route(
    post(
      '/v1/disputes/:id',
      { ...expandParam, evidence: optional(evidence), metadata: optional(metadata()), submit: optional(boolean()) },
      (ctx, params, { id }, cause) => {
        const record = existing(ctx, id)
        const dispute = record.object
        const before = structuredClone(dispute)
        if (params.evidence !== undefined) {
          requireOpen(dispute)
          const given = Object.entries(params.evidence).filter(([, value]) => value !== undefined)
          Object.assign(dispute.evidence, Object.fromEntries(given))
          dispute.evidence_details.has_evidence = true
        }
        // As in the API, evidence is submitted unless the request says otherwise.
        if (params.evidence !== undefined && params.submit !== false) submit(ctx, record)
        dispute.metadata = mergeMetadata(dispute.metadata, params.metadata)
        emitChange(ctx, 'charge.dispute.updated', before, dispute, cause)
        return dispute
      },
    ),
  )

  route(
    post('/v1/disputes/:id/close', expandParam, (ctx, _params, { id }, cause) => {
      const record = existing(ctx, id)
      requireOpen(record.object)
      closeDispute(ctx, record, record.object.status.startsWith('warning') ? 'warning_closed' : 'lost', cause)
      return record.object
    }),
  )
}

function submit(ctx: Context, record: DisputeRecord): void {
  const dispute = record.object
  dispute.status = dispute.status.startsWith('warning') ? 'warning_under_review' : 'under_review'
  dispute.evidence_details.submission_count += 1
  dispute.evidence_details.submission_method = 'manual'
  const outcome = decisive[dispute.evidence.uncategorized_text ?? '']
  if (outcome !== undefined) {
    record.settlement = { at: ctx.clock.seconds() + ctx.settings.disputeAfterSeconds, outcome }
  }
}

import type { TableLives } from '@robokids/runtime/sweep'

/** How long the rows of each table are kept. */
export const tables: TableLives = {
  levels: { kept: 'What the school offers' },
  seasons: { kept: 'What the school offers' },
  class_sessions: { kept: 'What the school offers' },
  meetings: { kept: 'What the school offers' },
  meeting_changes: { kept: 'What the school offers' },
  class_cancellations: { kept: 'What the school offers' },
  reminders: { kept: 'What the school offers' },
  calendar_feeds: { until: 'the account is deleted' },
  calendar_entries: { until: 'a reading, 30 days after a cancellation or 90 days after the meeting' },
  payments: { kept: 'Purchases' },
  refunds: { kept: 'Purchases' },
  disputes: { kept: 'Purchases' },
  waivers: { kept: 'Signatures, the evidence of a family’s consent' },
  waiver_documents: { kept: 'What was signed' },
  kit_shipments: { kept: 'Purchases' },
  registrations: {
    days: 180,
    since: 'updated_at',
    only: `status = 'expired' and payment_id is null
      and not exists (select from payments where registration_id = registrations.id)
      and not exists (select from refunds where registration_id = registrations.id)
      and not exists (select from disputes where registration_id = registrations.id)
      and not exists (select from waivers where registration_id = registrations.id)
      and not exists (select from kit_shipments where registration_id = registrations.id)`,
    why: 'Nobody paid for it: half a year for questions, and longer than any payment takes. Paid ones are kept',
  },
  waitlist_entries: {
    days: 180,
    since: 'updated_at',
    only: `status not in ('waiting', 'offered')`,
    why: 'The wait is over: half a year for questions. What was bought is a registration',
  },
  places: { kept: 'Purchases' },
  changes: { kept: 'What families have confirmed, and what they got back' },
  choices: { kept: 'What families could choose, and until when' },
  change_policies: { kept: 'The rules by which changes were made' },
  account_changes: { kept: 'Whose a purchase is follows from all of them' },
  accounts: { kept: 'Whose a purchase is' },
  member_holds: { until: 'the hold ends (the job expire-member-holds)' },
  pending_member_holds: { until: 'the hold ends (the job expire-member-holds)' },
  member_seats: { kept: 'Purchases' },
  member_bookings: { kept: 'Purchases' },
  member_booking_changes: { kept: 'What families have confirmed' },
  member_credits: { kept: 'Purchases' },
}

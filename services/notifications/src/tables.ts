import type { TableLives } from '@robokids/runtime/sweep'

const isDone = `status <> 'pending'`

/** How long the rows of each table are kept. */
export const tables: TableLives = {
  mails: [
    {
      days: 60,
      since: 'created_at',
      only: `${isDone} and kind = 'code_issued'`,
      why: 'Longer than its event can be delivered again. Who signs in when is nobody’s business afterwards',
    },
    {
      days: 3 * 365 + 1,
      since: 'created_at',
      only: isDone,
      why: 'To prove that a receipt, a reminder or a notice was sent. Its content is deleted after 180 days (the job forget-mails)',
    },
  ],
  rejections: { kept: 'A few bytes for each rejected payment, and no personal data' },
  notices: {
    days: 30,
    since: 'changed_at',
    only: `status <> 'confirmed'`,
    why: 'Neither an unconfirmed request nor one that was answered is needed. Confirmed ones wait for their product',
  },
}

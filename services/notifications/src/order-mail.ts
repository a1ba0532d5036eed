import { randomUUIDv7 } from 'node:crypto'
import type { CodeMedium } from '@robokids/contracts/identity'
import { wake, type Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { messageIdOf } from './message-id.ts'
import { mails, type MailData, type MailRow } from './schema.ts'

/** The job that sends what goes by a medium: neither waits for the other's server. */
export const jobOf: Record<CodeMedium, string> = { EMAIL: 'send-mails', SMS: 'send-texts' }

export type Order<Kind extends keyof MailData> = {
  kind: Kind
  /** What makes the fact one of its kind. */
  factId: string
  recipient: string
  data: MailData[Kind]
} & Partial<Pick<MailRow, 'medium' | 'registrationId' | 'userId' | 'sealedCode' | 'expiresAt'>>

/** Orders the mail about each fact, once; the job sends it after the commit. */
export async function orderMail<Kind extends keyof MailData>(
  tx: Transaction,
  context: Context<Config>,
  ...orders: Order<Kind>[]
): Promise<void> {
  if (orders.length === 0) return
  const now = context.clock.now()
  const rows = orders.map(({ kind, factId, ...order }) => {
    const id = randomUUIDv7()
    const messageId = messageIdOf(id, 1, context.config.MAIL_FROM)
    return { ...order, id, fact: `${kind}:${factId}`, kind, messageId, nextTryAt: now, createdAt: now }
  })
  await tx.insert(mails).values(rows).onConflictDoNothing({ target: mails.fact })
  for (const medium of new Set(orders.map((order) => order.medium ?? 'EMAIL'))) await wake(tx, jobOf[medium])
}

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

/** Orders the mail about a fact, once; the job sends it after the commit. */
export async function orderMail<Kind extends keyof MailData>(
  tx: Transaction,
  context: Context<Config>,
  { kind, factId, ...order }: Order<Kind>,
): Promise<void> {
  const id = randomUUIDv7()
  const now = context.clock.now()
  await tx
    .insert(mails)
    .values({
      ...order,
      id,
      fact: `${kind}:${factId}`,
      kind,
      messageId: messageIdOf(id, 1, context.config.MAIL_FROM),
      nextTryAt: now,
      createdAt: now,
    })
    .onConflictDoNothing({ target: mails.fact })
  await wake(tx, jobOf[order.medium ?? 'EMAIL'])
}

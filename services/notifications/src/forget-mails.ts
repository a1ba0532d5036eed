import type { Context } from '@robokids/runtime/service'
import { and, inArray, isNotNull, lt, ne } from 'drizzle-orm'
import type { Config } from './config.ts'
import { mails } from './schema.ts'

/** Half a year: the time in which families may ask about a mail. */
const retentionHours = 180 * 24
const batchSize = 500

/**
 * Deletes the contents of old mails and text messages: names, children, home addresses. Kind, recipient and time stay, so that
 * an operator can say what was sent to whom and prove that a receipt or reminder was sent.
 */
export async function forgetMails({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  const before = clock.now().subtract({ hours: retentionHours })
  const old = db
    .select({ id: mails.id })
    .from(mails)
    .where(and(isNotNull(mails.data), ne(mails.status, 'pending'), lt(mails.createdAt, before)))
    .limit(batchSize)
  while (!signal.aborted) {
    // The error of a server can quote the message.
    const forgotten = await db
      .update(mails)
      .set({ data: null, lastError: null })
      .where(inArray(mails.id, old))
      .returning({ id: mails.id })
    if (forgotten.length < batchSize) return
  }
}

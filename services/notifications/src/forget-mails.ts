import type { Context } from '@robokids/runtime/service'
import { and, inArray, isNotNull, lt, ne } from 'drizzle-orm'
import type { Config } from './config.ts'
import { mails } from './schema.ts'

/** As long as a family may come back to what it was written: half a year. */
const rememberedHours = 180 * 24
const atOnce = 500

/**
 * Forgets what mails and text messages said: names, children, home addresses. That one was sent, to which address and when,
 * stays: it is how an operator answers who asks what they were sent, and proves that a receipt or a reminder went out.
 */
export async function forgetMails({ db, clock }: Context<Config>, signal: AbortSignal): Promise<void> {
  const before = clock.now().subtract({ hours: rememberedHours })
  const old = db
    .select({ id: mails.id })
    .from(mails)
    .where(and(isNotNull(mails.data), ne(mails.status, 'pending'), lt(mails.createdAt, before)))
    .limit(atOnce)
  while (!signal.aborted) {
    // A server that refused a message may have quoted it.
    const forgotten = await db
      .update(mails)
      .set({ data: null, lastError: null })
      .where(inArray(mails.id, old))
      .returning({ id: mails.id })
    if (forgotten.length < atOnce) return
  }
}

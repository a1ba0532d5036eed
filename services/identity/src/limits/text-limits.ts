import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt } from 'drizzle-orm'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import { attemptsExceeded, IdentityError, invalid } from '../protocol/errors.ts'
import { count, isTooMuch } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { limits } from '../schema.ts'

const oneDay = { hours: 24 }
const ofAll = 'texts of all'

/** What identity counts of text messages. */
export function registerTextMetric({ metrics: { registry } }: Context<Config>): void {
  const texts = new Counter({
    name: 'text_messages_total',
    help: 'Text messages by outcome (sent, or refused as all together were too many in a day)',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of ['sent', 'refused']) texts.inc({ outcome }, 0)
}

function note({ metrics: { registry } }: Context<Config>, outcome: 'sent' | 'refused'): void {
  ;(registry.getSingleMetric('text_messages_total') as Counter<'outcome'>).inc({ outcome })
}

function tooMany(context: Context<Config>): IdentityError {
  note(context, 'refused')
  const message = 'No more text messages can be sent today. Please use another way, or try again tomorrow.'
  return new IdentityError('LimitExceededException', message)
}

/** @throws IdentityError InvalidParameterException for a number of a country that is not written to, as texts there may cost anything. */
export function checkCountry(phoneNumber: string, { TEXT_COUNTRIES }: Config): void {
  if (TEXT_COUNTRIES.some((code) => phoneNumber.startsWith(code))) return
  const codes = TEXT_COUNTRIES.join(' or ')
  throw invalid(`We can send text messages only to numbers that begin with ${codes}. Please use another way instead.`)
}

/**
 * Counts a text message that a network asks for, sent or only pretended to be.
 * @throws IdentityError LimitExceededException, also where all together were sent too many
 */
export async function countText(tx: Transaction | Database, call: Call): Promise<void> {
  const { config, clock } = call.context
  const today = and(eq(limits.key, ofAll), gt(limits.since, clock.now().subtract(oneDay)))
  const [sent] = await tx.select({ count: limits.count }).from(limits).where(today)
  if ((sent?.count ?? 0) >= config.TEXTS_A_DAY) throw tooMany(call.context)
  const limit = { key: 'texts', most: config.ADDRESS_TEXTS_AN_HOUR, within: { hours: 1 } }
  if (await isTooMuch(tx, call, limit)) throw attemptsExceeded()
}

/** Counts a text message that is being sent, whoever asked for it. @throws IdentityError LimitExceededException, InvalidParameterException */
export async function countSentText(tx: Transaction, phoneNumber: string, context: Context<Config>): Promise<void> {
  const { config, log } = context
  checkCountry(phoneNumber, config)
  const sent = await count(tx, context, { key: ofAll, within: oneDay })
  if (sent > config.TEXTS_A_DAY) throw tooMany(context)
  if (sent === config.TEXTS_A_DAY) log.error({ sent }, 'as many text messages were sent today as may be: TEXTS_A_DAY')
  note(context, 'sent')
}

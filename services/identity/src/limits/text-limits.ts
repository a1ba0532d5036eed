import type { Database, Transaction } from '@robokids/runtime/db'
import type { Context } from '@robokids/runtime/service'
import { and, eq, gt } from 'drizzle-orm'
import { Counter } from 'prom-client'
import type { Config } from '../config.ts'
import { attemptsExceeded, IdentityError, invalid } from '../protocol/errors.ts'
import { count, exceedsLimit } from './limits.ts'
import type { Call } from '../protocol/protocol.ts'
import { limits } from '../schema.ts'

const oneDay = { hours: 24 }
const allTextsKey = 'texts of all'

/** Registers the metric of text messages. */
export function registerTextMetric({ metrics: { registry } }: Context<Config>): void {
  const texts = new Counter({
    name: 'text_messages_total',
    help: 'Text messages by outcome (sent, or refused because the daily limit was reached)',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of ['sent', 'refused']) texts.inc({ outcome }, 0)
}

function countOutcome({ metrics: { registry } }: Context<Config>, outcome: 'sent' | 'refused'): void {
  ;(registry.getSingleMetric('text_messages_total') as Counter<'outcome'>).inc({ outcome })
}

function dailyLimitExceeded(context: Context<Config>): IdentityError {
  countOutcome(context, 'refused')
  const message = 'We can’t send more text messages today. Please use another method, or try again tomorrow.'
  return new IdentityError('LimitExceededException', message)
}

/**
 * @throws IdentityError InvalidParameterException for a country that is not configured, where texts may be expensive
 */
export function checkCountry(phoneNumber: string, { TEXT_COUNTRIES }: Config): void {
  if (TEXT_COUNTRIES.some((code) => phoneNumber.startsWith(code))) return
  const codes = TEXT_COUNTRIES.join(' or ')
  throw invalid(`We can send text messages only to numbers that begin with ${codes}. Please use another method.`)
}

/**
 * Counts a text message requested from a network, sent or simulated.
 * @throws IdentityError LimitExceededException, also if the daily limit of all accounts is reached
 */
export async function countText(tx: Transaction | Database, call: Call): Promise<void> {
  const { config, clock } = call.context
  const today = and(eq(limits.key, allTextsKey), gt(limits.since, clock.now().subtract(oneDay)))
  const [sent] = await tx.select({ count: limits.count }).from(limits).where(today)
  if ((sent?.count ?? 0) >= config.TEXTS_A_DAY) throw dailyLimitExceeded(call.context)
  const limit = { key: 'texts', max: config.ADDRESS_TEXTS_AN_HOUR, within: { hours: 1 } }
  if (await exceedsLimit(tx, call, limit)) throw attemptsExceeded()
}

/**
 * Counts a text message that is about to be sent.
 * @throws IdentityError LimitExceededException, InvalidParameterException
 */
export async function countSentText(tx: Transaction, phoneNumber: string, context: Context<Config>): Promise<void> {
  const { config, log } = context
  checkCountry(phoneNumber, config)
  const sent = await count(tx, context, { key: allTextsKey, within: oneDay })
  if (sent > config.TEXTS_A_DAY) throw dailyLimitExceeded(context)
  if (sent === config.TEXTS_A_DAY) log.error({ sent }, 'daily limit of text messages reached: TEXTS_A_DAY')
  countOutcome(context, 'sent')
}

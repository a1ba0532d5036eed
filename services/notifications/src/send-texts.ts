import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import { openCode } from './open-code.ts'
import type { MailData } from './schema.ts'
import { sendDue } from './send-due.ts'
import { codeText } from './texts/code-issued.ts'
import { Unsendable } from './unsendable.ts'

async function post(
  url: string,
  message: { id: string; to: string; text: string },
  { SMS_TOKEN }: Config,
  signal: AbortSignal,
): Promise<number> {
  const response = await fetch(url, {
    method: 'POST',
    // A redirected POST could be repeated as a GET, which sends nothing.
    redirect: 'manual',
    signal,
    headers: {
      'content-type': 'application/json',
      'idempotency-key': message.id,
      ...(SMS_TOKEN === undefined ? {} : { authorization: `Bearer ${SMS_TOKEN}` }),
    },
    body: JSON.stringify(message),
  }).catch((error: Error) => {
    const { code = error.name } = (error.cause ?? {}) as { code?: string }
    throw new Error(`The SMS gateway does not respond (${code}).`)
  })
  await response.body?.cancel()
  return response.status
}

/** Sends the text messages that are due. */
export async function sendTexts(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const { config, clock } = context
  await sendDue('SMS', { concurrency: 5, limitMs: config.SMS_TIMEOUT_MS }, context, signal, async (mail, limit) => {
    const { code, expiresAt } = openCode(mail, context)
    const text = codeText(mail.data as MailData['code_issued'], code, clock.now().until(expiresAt), config.SITE_URL)
    if (config.SMS_URL === undefined) throw new Unsendable('There is no SMS gateway: SMS_URL is not set.')
    const status = await post(config.SMS_URL, { id: mail.id, to: mail.recipient, text }, config, limit)
    // The response body is left out, because it can quote the text.
    if (status < 200 || status > 299) {
      throw Object.assign(new Error(`The SMS gateway responded ${status}.`), { status })
    }
  })
}

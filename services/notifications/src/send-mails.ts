import type { Context } from '@robokids/runtime/service'
import { createTransport } from 'nodemailer'
import { composeMail } from './compose-mail.ts'
import type { Config } from './config.ts'
import { isOneAddress } from './rules.ts'
import { sendDue } from './send-due.ts'
import { Unsendable } from './unsendable.ts'

/** Sends the mails that are due. */
export async function sendMails(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const { SMTP_URL, SMTP_TIMEOUT_MS, SMTP_CONNECTIONS, MAIL_FROM } = context.config
  // Opens connections as needed. They end with this run, so that none is idle for so long that the server closes it.
  const transport = createTransport({
    url: SMTP_URL,
    pool: true,
    maxConnections: SMTP_CONNECTIONS,
    // A server may close a connection after some mails: the next one goes over another connection, if none of it was sent.
    maxRequeues: 1,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  const limits = { concurrency: SMTP_CONNECTIONS, limitMs: 3 * SMTP_TIMEOUT_MS }
  await sendDue('EMAIL', limits, context, signal, async (mail, limit) => {
    if (!isOneAddress(mail.recipient)) throw new Unsendable('The recipient is not an email address.')
    const { recipientName, replyTo, subject, text, html, attachments } = await composeMail(mail, context, limit)
    if (replyTo && !isOneAddress(replyTo.address))
      throw new Unsendable('The sender of the message has no valid email address.')
    await transport
      .sendMail({
        from: { name: 'Robo Kids Learning', address: MAIL_FROM },
        to: { name: recipientName, address: mail.recipient },
        ...(replyTo ? { replyTo } : {}),
        subject,
        text,
        html,
        attachments,
        messageId: mail.messageId,
        date: new Date(context.clock.now().epochMilliseconds),
        // A message from the contact page has to be answered, and help desks ignore mails marked as automatic.
        headers: replyTo ? {} : { 'Auto-Submitted': 'auto-generated' },
        xMailer: false,
        signal: limit,
      })
      .catch((error: unknown) => {
        throw limit.aborted ? new Error('The mail server took too long for the whole mail.') : error
      })
  }).finally(() => transport.close())
}

import type { Context } from '@robokids/runtime/service'
import { createTransport } from 'nodemailer'
import { composeMail } from './compose-mail.ts'
import type { Config } from './config.ts'
import { isOneAddress } from './rules.ts'
import { sendDue } from './send-due.ts'
import { Unsendable } from './unsendable.ts'

/** Sends the mails that are due. */
export async function sendMails(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const { SMTP_URL, SMTP_TIMEOUT_MS, MAIL_FROM } = context.config
  // One connection per mail: a pool would resend a mail by itself when its connection breaks.
  const transport = createTransport({
    url: SMTP_URL,
    connectionTimeout: SMTP_TIMEOUT_MS,
    greetingTimeout: SMTP_TIMEOUT_MS,
    socketTimeout: SMTP_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
  })
  await sendDue('EMAIL', 3 * SMTP_TIMEOUT_MS, context, signal, async (mail, limit) => {
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
  })
}

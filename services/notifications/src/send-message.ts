import { isDeepStrictEqual } from 'node:util'
import { messageReference, type MessageSent, type SendMessage } from '@robokids/contracts/contact'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { enqueueMail } from './enqueue-mail.ts'
import { mails } from './schema.ts'

const said = ({ name, email, topic, reference, message }: SendMessage) => [name, email, topic, reference, message]

/**
 * Takes a message to the school, once: it is mailed after the commit, whatever becomes of the answer. Its writer gets no mail,
 * since anybody could have typed their address.
 * @throws DomainError `id_reused` where another message came under its id
 */
export async function sendMessage(context: Context<Config>, message: SendMessage): Promise<MessageSent> {
  const { id } = message
  await context.db.transaction(async (tx) => {
    await enqueueMail(tx, context, {
      kind: 'contact_message',
      factId: id,
      recipient: context.config.SUPPORT_EMAIL,
      data: message,
    })
    const [kept] = await tx
      .select({ data: mails.data })
      .from(mails)
      .where(eq(mails.fact, `contact_message:${id}`))
    // Of one that is forgotten by now, nothing else can be said.
    if (kept?.data && !isDeepStrictEqual(said(kept.data as SendMessage), said(message))) {
      throw new DomainError('id_reused', 'Another message was sent under this id.')
    }
  })
  return { reference: messageReference(id) }
}

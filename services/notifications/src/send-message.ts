import { isDeepStrictEqual } from 'node:util'
import { messageReference, type MessageSent, type SendMessage } from '@robokids/contracts/contact'
import { DomainError } from '@robokids/runtime/errors'
import type { Context } from '@robokids/runtime/service'
import { eq } from 'drizzle-orm'
import type { Config } from './config.ts'
import { enqueueMail } from './enqueue-mail.ts'
import { mails } from './schema.ts'

const contentOf = ({ name, email, topic, reference, message }: SendMessage) => [name, email, topic, reference, message]

/**
 * Enqueues the mail with a message to the school, once per id. The sender gets no confirmation mail, because anyone could have
 * typed the address.
 * @throws DomainError `id_reused` if another message was sent under its id.
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
    const [stored] = await tx
      .select({ data: mails.data })
      .from(mails)
      .where(eq(mails.fact, `contact_message:${id}`))
    // Without the data (after the retention), the messages cannot be compared.
    if (stored?.data && !isDeepStrictEqual(contentOf(stored.data as SendMessage), contentOf(message))) {
      throw new DomainError('id_reused', 'Another message was sent under this id.')
    }
  })
  return { reference: messageReference(id) }
}

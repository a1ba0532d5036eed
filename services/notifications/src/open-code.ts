import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import type { MailData, MailRow } from './schema.ts'
import { Unsendable } from './unsendable.ts'

/** Returns the sealing purpose of a code, in the event and in this database. */
export const codePurpose = (codeId: string) => `code:${codeId}`

function unseal({ sealedCode, data }: MailRow, { CODE_SEALING_KEYS }: Config): string | undefined {
  const { codeId } = data as MailData['code_issued']
  return sealedCode === null ? undefined : CODE_SEALING_KEYS.open(sealedCode, codePurpose(codeId))?.toString('utf8')
}

/**
 * Returns the code of a message, which stays sealed until the message is composed.
 * @throws Unsendable if it has expired or cannot be opened.
 */
export function openCode(
  mail: MailRow,
  { config, clock }: Context<Config>,
): { code: string; expiresAt: Temporal.Instant } {
  const { expiresAt } = mail
  if (expiresAt === null || Temporal.Instant.compare(expiresAt, clock.now()) <= 0) {
    throw new Unsendable('The code expired before it could be sent.')
  }
  const code = unseal(mail, config)
  if (code === undefined) throw new Unsendable('The code cannot be opened with the keys in CODE_SEALING_KEYS.')
  return { code, expiresAt }
}

/** Removes the code from an error message, because a server can quote what it rejects. */
export function redactCode(reason: string, mail: MailRow, config: Config): string {
  const code = unseal(mail, config)
  return code === undefined || code === '' ? reason : reason.replaceAll(code, '…')
}

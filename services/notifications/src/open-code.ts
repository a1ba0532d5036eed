import type { Context } from '@robokids/runtime/service'
import type { Config } from './config.ts'
import type { MailData, MailRow } from './schema.ts'
import { Unsendable } from './unsendable.ts'

/** What an event's code is sealed for, on its way and here. */
export const codePurpose = (codeId: string) => `code:${codeId}`

function unseal({ sealedCode, data }: MailRow, { CODE_SEALING_KEYS }: Config): string | undefined {
  const { codeId } = data as MailData['code_issued']
  return sealedCode === null ? undefined : CODE_SEALING_KEYS.open(sealedCode, codePurpose(codeId))?.toString('utf8')
}

/**
 * The code that a message carries, which is kept sealed until it is written.
 * @throws Unsendable where it has expired or cannot be opened.
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

/** A reason as it may be kept: a server that quotes what it refuses would put the code into it. */
export function withoutCode(reason: string, mail: MailRow, config: Config): string {
  const code = unseal(mail, config)
  return code === undefined || code === '' ? reason : reason.replaceAll(code, '…')
}

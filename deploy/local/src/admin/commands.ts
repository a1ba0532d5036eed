import { accountCommands } from './accounts.ts'
import { backupCommands } from './backup.ts'
import { classCommands } from './classes.ts'
import { eventCommands } from './events.ts'
import { keyCommands } from './keys.ts'
import { mailCommands } from './mails.ts'
import { moneyCommands } from './money.ts'
import { registrationCommands } from './registrations.ts'
import type { Commands } from './command.ts'

/** The commands, by what they are about. */
export const groups: Record<string, Commands> = {
  Classes: classCommands,
  'Registrations and kits': registrationCommands,
  'Money and the shop': moneyCommands,
  Mails: mailCommands,
  Accounts: accountCommands,
  'Events and jobs': eventCommands,
  Keys: keyCommands,
  Backups: backupCommands,
}

export const commands: Commands = Object.assign({}, ...Object.values(groups)) as Commands

import { addresses, OperatorError, secretFor } from '../operated-system.ts'
import type * as Accounts from '../reset-mfa.ts'
import { required, type Command, type Commands } from './command.ts'

type Module = typeof Accounts

/** Creates a command that calls identity's administrator operations for one account. */
function accountCommand(
  command: Pick<Command, 'does' | 'destroys' | 'changes'>,
  act: (accounts: Module, name: string, adminTarget: Accounts.AdminTarget) => Promise<string | object>,
): Command {
  return {
    ...command,
    takes: '<address|user name>',
    of: ['identity'],
    async run({ words: [given], perform }) {
      const name = required(given, 'address or user name')
      const accounts = await import('../reset-mfa.ts')
      const adminTarget = {
        url: addresses.identity,
        pool: process.env['IDENTITY_POOL'] ?? 'us-west-1_RoboKids',
        accessKeyId: secretFor('identity', 'AWS_ACCESS_KEY_ID', 'local'),
        secretAccessKey: secretFor('identity', 'AWS_SECRET_ACCESS_KEY', 'local'),
      }
      const call = () =>
        act(accounts, name, adminTarget).catch((error: unknown) => {
          throw new OperatorError((error as Error).message)
        })
      if (command.changes !== true) return { value: await call() }
      // That the account exists is checked in a dry run too.
      await accounts.readAccount(name, adminTarget).catch((error: unknown) => {
        throw new OperatorError((error as Error).message)
      })
      const said = await perform(`${command.does}: ${name}`, call)
      return typeof said === 'string' ? said : undefined
    },
  }
}

const forgottenBrowsers = (count: number) =>
  count === 1 ? '1 browser is forgotten' : `${count} browsers are forgotten`

export const accountCommands: Commands = {
  account: accountCommand(
    { does: 'shows an account with its status and second factors' },
    (accounts, name, adminTarget) => accounts.readAccount(name, adminTarget),
  ),
  'sign-out': accountCommand(
    { does: 'signs an account out everywhere, and forgets its trusted browsers', changes: true },
    async (accounts, name, adminTarget) => {
      const forgotten = await accounts.signOutEverywhere(name, adminTarget)
      return `${name} is signed out everywhere, and ${forgottenBrowsers(forgotten)}.`
    },
  ),
  'disable-account': accountCommand(
    { does: 'disables an account, and signs it out everywhere', changes: true },
    async (accounts, name, adminTarget) => {
      await accounts.administer(adminTarget, 'AdminDisableUser', { Username: name })
      return `${name} is disabled, and signed out everywhere. enable-account enables it again.`
    },
  ),
  'enable-account': accountCommand({ does: 'enables it again', changes: true }, async (accounts, name, adminTarget) => {
    await accounts.administer(adminTarget, 'AdminEnableUser', { Username: name })
    return `${name} can log in again.`
  }),
  'delete-account': accountCommand(
    {
      does: 'deletes an account permanently; its membership is not renewed',
      changes: true,
      destroys: 'A deleted account cannot be brought back.',
    },
    async (accounts, name, adminTarget) => {
      await accounts.administer(adminTarget, 'AdminDeleteUser', { Username: name })
      return `${name} is deleted permanently, and its owner is mailed.`
    },
  ),
  'reset-mfa': accountCommand(
    {
      does: 'disables a lost second factor, after checking the person’s identity: services/identity/README.md',
      changes: true,
      destroys: 'Whoever has the password can then sign in without a second factor.',
    },
    async (accounts, name, adminTarget) => {
      const forgotten = await accounts.resetMfa(name, adminTarget)
      return `The second factors of ${name} are disabled, ${forgottenBrowsers(forgotten)}, and all are signed out.`
    },
  ),
}

import { json } from '../operated-system.ts'
import { queryOf, required, segment, type Commands } from './command.ts'

const columns = ['mailId', 'kind', 'status', 'recipient', 'attempts', 'sentAt', 'lastError']

export const mailCommands: Commands = {
  mails: {
    takes: '<registrationId|address>',
    does: 'lists mails, sent or not, with the reason',
    of: ['notifications'],
    lists: true,
    async run({ words: [whose] }) {
      const about = required(whose, 'registration or address')
      const query = queryOf({ [about.includes('@') ? 'email' : 'registrationId']: about })
      const { mails } = (await json('notifications', 'GET', `/mails${query}`)) as { mails: object[] }
      return { list: { name: 'mails', rows: mails, columns, none: 'No mails.' } }
    },
  },
  resend: {
    takes: '<mailId>',
    does: 'sends a mail again, or one that was dropped',
    of: ['notifications'],
    changes: true,
    run: async ({ words: [id], change }) => ({
      value: await change('notifications', `/mails/${segment(id, 'mail')}/resend`),
    }),
  },
}

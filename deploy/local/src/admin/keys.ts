import { signingKeysSchema } from '@robokids/contracts/identity'
import { resealedSchema, type Resealed } from '@robokids/contracts/operator'
import { askEach, json } from '../operated-system.ts'
import { sealingServices, type ServiceName } from '../services.ts'
import { segment, type Call, type Commands } from './command.ts'

/** Seals everything under the newest keys, and says whether the older ones are still needed. */
async function reseal({ services, options, perform }: Call) {
  const what = `seals everything of ${services.join(' and ')} under the newest keys`
  const outcomes = await perform(what, () =>
    askEach(services, async (service) => {
      for (let resealed = 0; ;) {
        const turn = resealedSchema.parse(await json(service, 'POST', '/admin/reseal'))
        resealed += turn.resealed
        if (turn.left === 0 || turn.resealed === 0) return { ...turn, resealed }
      }
    }),
  )
  if (outcomes === undefined) return undefined
  if (outcomes.values().some(({ left }) => left > 0)) process.exitCode = 1
  if (options.json) return { value: Object.fromEntries(outcomes) }
  return [...outcomes].map(describe).join('\n')
}

function describe([service, { resealed, left, unreadable }]: [ServiceName, Resealed]): string {
  const done = `${service}: ${resealed} resealed`
  if (left === 0) return `${done}. Nothing is sealed under an older key: older keys can be removed.`
  return `${done}, ${left} are still under older keys, ${unreadable} of them under unknown ones.`
}

export const keyCommands: Commands = {
  reseal: {
    does: 'seals everything under the newest sealing keys, so that older ones can be removed: services/identity/README.md',
    of: sealingServices,
    options: ['json'],
    changes: true,
    run: reseal,
  },
  'signing-keys': {
    does: 'lists the keys that sign tokens, and those that signed tokens which are still valid',
    of: ['identity'],
    lists: true,
    async run() {
      const { signingKeys } = signingKeysSchema.parse(await json('identity', 'GET', '/admin/signing-keys'))
      const columns = ['kid', 'poolId', 'createdAt', 'signs']
      return { list: { name: 'signingKeys', rows: signingKeys, columns, none: 'No signing keys.' } }
    },
  },
  'signing-keys rotate': {
    does: 'adds a new key to each pool: it signs in an hour, and the old ones are deleted a day after that',
    of: ['identity'],
    changes: true,
    run: async ({ change }) => ({ value: await change('identity', '/admin/signing-keys') }),
  },
  'signing-keys withdraw': {
    takes: '<kid>',
    does: 'deletes a key that has leaked: its tokens are invalid at once, and within five minutes at the site',
    of: ['identity'],
    changes: true,
    destroys: 'Everybody with a token of this key has to sign in again or refresh it.',
    run: async ({ words: [kid], change }) => ({
      value: await change('identity', `/admin/signing-keys/${segment(kid, 'key')}/withdraw`),
    }),
  },
}

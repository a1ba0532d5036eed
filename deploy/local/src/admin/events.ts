import { deadLettersSchema, outboxSchema, republishedSchema, type DeadLetter } from '@robokids/contracts/operator'
import { z } from 'zod'
import { askEach, json, OperatorError } from '../operated-system.ts'
import { consumingServices, owningServices, type OwningService, type ServiceName } from '../services.ts'
import { queryOf, required, segment, type Call, type Command, type Commands } from './command.ts'
import type { Output } from './output.ts'

type ListedLetter = DeadLetter & { service: ServiceName }

async function fetchDeadLetters(services: readonly ServiceName[], all: boolean): Promise<ListedLetter[]> {
  const lists = await askEach(services, async (service) => {
    const query = queryOf({ all: String(all) })
    const answer = await json(service, 'GET', `/admin/dead-letters${query}`)
    const { deadLetters } = deadLettersSchema.parse(answer)
    return deadLetters.map((letter) => ({ ...letter, service }))
  })
  return [...lists.values()].flat()
}

/** @throws OperatorError if there is none with that id */
function choose<Item extends { id: string }>(items: Item[], id: string | undefined, what: string): Item[] {
  const chosen = required(id, what) === 'all' ? items : items.filter((item) => item.id === id)
  if (chosen.length === 0) throw new OperatorError(id === 'all' ? `No ${what}s.` : `No ${what} ${id} exists.`)
  return chosen
}

type Outbox = z.infer<typeof outboxSchema>

function fetchOutboxes(services: readonly ServiceName[]): Promise<Map<ServiceName, Outbox>> {
  return askEach(services, async (service) => outboxSchema.parse(await json(service, 'GET', '/admin/outbox')))
}

async function listWaiting({ services }: Call): Promise<Output> {
  const outboxes = await fetchOutboxes(services)
  const letters = await fetchDeadLetters(
    services.filter((service) => outboxes.has(service)),
    false,
  )
  const rows = [...outboxes].map(([service, { pending, oldestSeconds, setAside, refused }]) => ({
    service,
    pending,
    oldestSeconds: Math.round(oldestSeconds),
    refused: refused.length,
    setAside,
    deadLetters: letters.filter((letter) => letter.service === service).length,
  }))
  const columns = ['service', 'pending', 'oldestSeconds', 'refused', 'setAside', 'deadLetters']
  return { list: { name: 'waiting', rows, columns, none: 'Nothing is known.' } }
}

async function fetchRefused(services: readonly ServiceName[]) {
  const outboxes = await fetchOutboxes(services)
  return [...outboxes].flatMap(([service, { refused }]) => refused.map((event) => ({ service, ...event })))
}

/** The service that the first argument names. @throws OperatorError */
function ownerOf([service]: string[]): OwningService {
  const of = owningServices.find((one) => one === service)
  if (of === undefined) throw new OperatorError(`Which service of ${owningServices.join(', ')}?`)
  return of
}

const timestamp = z.iso.datetime({ offset: true })

/** Has a service republish the events of a time range. */
const republish: Command = {
  takes: '<service> <from> [to]',
  does: 'publishes the events of that time again, refused ones too: republish billing 2026-11-28T17:00:00Z',
  of: (words) => [ownerOf(words)],
  changes: true,
  async run({ words, options, change }) {
    const of = ownerOf(words)
    const [, from, to] = words
    for (const time of [required(from, 'time'), to])
      if (time !== undefined && !timestamp.safeParse(time).success)
        throw new OperatorError(`A time is like 2026-11-28T17:00:00Z, not "${time}".`)
    if (options['dry-run']) {
      const counted = await json(of, 'POST', '/admin/outbox/republish', { from, to, dryRun: true })
      const { events } = republishedSchema.parse(counted)
      return `Dry run, nothing was changed. Without --dry-run: ${events} events of ${of} are published again.`
    }
    return { value: await change(of, '/admin/outbox/republish', { from, to }) }
  },
}

export const eventCommands: Commands = {
  waiting: {
    does: 'lists by service the events to be published, those that the broker refuses, and the dead letters',
    of: owningServices,
    lists: true,
    run: listWaiting,
  },
  'set-aside': {
    does: 'lists the events that the broker refuses: they are retried, and set aside at last',
    of: owningServices,
    lists: true,
    async run({ services }) {
      const rows = await fetchRefused(services)
      const columns = ['service', 'id', 'type', 'tries', 'setAsideAt', 'error']
      return { list: { name: 'events', rows, columns, none: 'No event is refused.' } }
    },
  },
  'set-aside retry': {
    takes: '<id>|all',
    does: 'publishes such an event now',
    of: owningServices,
    changes: true,
    async run({ words: [id], services, change }) {
      const retried: string[] = []
      for (const event of choose(await fetchRefused(services), id, 'refused event'))
        if ((await change(event.service, `/admin/outbox/${event.id}/retry`)) !== undefined) retried.push(event.id)
      return retried.length === 0 ? undefined : `${retried.join(', ')}: to be published now.`
    },
  },
  republish,
  'dead-letters': {
    does: 'lists events that could not be handled, of all services: --all lists replayed ones too',
    of: consumingServices,
    lists: true,
    options: ['all'],
    async run({ services, options: { all } }) {
      const rows = await fetchDeadLetters(services, all)
      // Unknown if a service did not answer.
      const none = process.exitCode === undefined ? 'No dead letters.' : ''
      const columns = ['id', 'failedAt', 'handler', 'replayedAt', 'error']
      return { list: { name: 'deadLetters', rows, columns, none } }
    },
  },
  'dead-letters show': {
    takes: '<id>',
    does: 'shows one with its content',
    of: consumingServices,
    run: async ({ words: [id], services }) => ({
      value: choose(await fetchDeadLetters(services, true), id, 'dead letter')[0],
    }),
  },
  'dead-letters replay': {
    takes: '<id>|all',
    does: 'handles it again',
    of: consumingServices,
    changes: true,
    async run({ words: [id], services, change }) {
      const replayed: string[] = []
      for (const letter of choose(await fetchDeadLetters(services, false), id, 'dead letter')) {
        const done = await change(letter.service, `/admin/dead-letters/${letter.id}/replay`)
        if (done !== undefined) replayed.push(`${letter.id} replayed by ${letter.handler}`)
      }
      return replayed.length === 0 ? undefined : replayed.join('\n')
    },
  },
  streams: {
    does: 'shows the broker’s streams, and how they differ from the settings and the events of this version',
    of: ['enrollment'],
    async run() {
      const { readStreams } = await import('../operated-broker.ts')
      return { value: await readStreams() }
    },
  },
  'streams apply': {
    does: 'removes these differences, once no process of a newer version runs',
    of: ['enrollment'],
    changes: true,
    destroys: 'With lower limits the broker deletes events, and events of removed subjects cannot be published.',
    async run({ perform }) {
      const { changeStreams } = await import('../operated-broker.ts')
      const changed = await perform('makes the streams what npm run admin -- streams says they are not', changeStreams)
      if (changed === undefined) return undefined
      return changed.length === 0 ? 'Nothing differs.' : changed.map((change) => `Changed: ${change}`).join('\n')
    },
  },
  job: {
    takes: '<service> <job>',
    does: 'runs a background job of a service now, which it runs by itself otherwise: job notifications forget-mails',
    of: (words) => [ownerOf(words)],
    changes: true,
    async run({ words, change }) {
      const done = await change(ownerOf(words), `/admin/jobs/${segment(words[1], 'job')}`)
      return done === undefined ? undefined : `${words[1]} was woken.`
    },
  },
}

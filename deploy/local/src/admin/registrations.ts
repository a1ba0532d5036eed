import { Readable } from 'node:stream'
import { json, request } from '../operated-system.ts'
import { queryOf, required, segment, type Commands, type Options } from './command.ts'
import type { Output } from './output.ts'

interface RegistrationPage {
  registrations: object[]
  nextCursor: string | null
}

/** Returns one page if there is a limit, else all pages as one. */
async function fetchAll({ email, status, limit, cursor }: Options): Promise<RegistrationPage> {
  const found: object[] = []
  for (let next = cursor; ;) {
    const query = queryOf({ email, status, limit: limit ?? '500', cursor: next })
    const page = (await json('bff', 'GET', `/api/getAllRegistrations${query}`)) as RegistrationPage
    found.push(...page.registrations)
    if (limit !== undefined || page.nextCursor === null) return { registrations: found, nextCursor: page.nextCursor }
    next = page.nextCursor
  }
}

async function listRegistrations(options: Options): Promise<Output> {
  const { email, status, limit, cursor } = options
  if (options.csv) {
    // The site writes the file, row by row: it may be longer than this process's memory.
    const query = queryOf({ format: 'csv', email, status, limit, cursor })
    const answer = await request('bff', 'GET', `/api/getAllRegistrations${query}`)
    return { stream: Readable.from(answer.body ?? []) }
  }
  const { registrations, nextCursor } = await fetchAll(options)
  const columns = ['registrationId', 'status', 'classType', 'startDate', 'guardianName', 'email', 'createdAt']
  return {
    list: { name: 'registrations', rows: registrations, columns, none: 'No registrations.', more: { nextCursor } },
  }
}

export const registrationCommands: Commands = {
  registrations: {
    does: 'lists registrations, newest first: all of them, or --limit that many, after the nextCursor of the JSON',
    of: ['bff'],
    lists: true,
    options: ['email', 'status', 'limit', 'cursor'],
    run: ({ options }) => listRegistrations(options),
  },
  expire: {
    takes: '<registrationId>',
    does: 'releases an unpaid hold now',
    of: ['enrollment'],
    changes: true,
    destroys: 'The family loses the seats, which others can take at once.',
    async run({ words: [id], change }) {
      return { value: await change('enrollment', `/registrations/${segment(id, 'registration')}/expire`) }
    },
  },
  ship: {
    takes: '<registrationId> <carrier> <tracking number>',
    does: 'marks a kit as shipped',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, carrier, number], change }) {
      const trackingNumber = required(number, 'tracking number')
      const shipment = { carrier: required(carrier, 'carrier'), trackingNumber }
      return { value: await change('enrollment', `/kits/${segment(id, 'registration')}/ship`, shipment) }
    },
  },
}

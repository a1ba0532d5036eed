import { randomUUIDv7 } from 'node:crypto'
import { classCancellationSchema } from '@robokids/contracts/class-cancellation'
import { classSessionsSchema, listedSessionSchema, seasonsSchema } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { waitlistLineSchema } from '@robokids/contracts/waitlist'
import { json, OperatorError } from '../operated-system.ts'
import { queryOf, required, segment, wholeNumber, type Commands } from './command.ts'

export const classCommands: Commands = {
  seasons: {
    does: 'lists the seasons with their seats',
    of: ['enrollment'],
    lists: true,
    async run() {
      const { seasons } = seasonsSchema.parse(await json('enrollment', 'GET', '/admin/seasons'))
      const columns = ['season', 'openedOn', 'firstDate', 'lastDate', 'sessions', 'capacity', 'held', 'sold']
      return { list: { name: 'seasons', rows: seasons, columns, none: 'No seasons.' } }
    },
  },
  'open-season': {
    takes: '<date…>',
    does: 'opens a season with a session of each class on each of these dates, and announces it',
    of: ['enrollment'],
    changes: true,
    async run({ words, change }) {
      if (words.length === 0) throw new OperatorError('Which dates? 2027-04-02 2027-04-03')
      return { value: await change('enrollment', '/admin/seasons', { classDates: words }) }
    },
  },
  sessions: {
    does: 'lists the coming class sessions with their seats: --all lists past ones too, --season those of one season',
    of: ['enrollment'],
    lists: true,
    options: ['all', 'season'],
    async run({ options: { all, season } }) {
      const query = queryOf({ all: all || season !== undefined ? 'true' : undefined, season })
      const { sessions } = classSessionsSchema.parse(await json('enrollment', 'GET', `/admin/class-sessions${query}`))
      const columns = [
        'classSessionId',
        'season',
        'classType',
        'date',
        'startTime',
        'capacity',
        'held',
        'sold',
        'status',
        'coachName',
        'joinUrl',
      ]
      return { list: { name: 'sessions', rows: sessions, columns, none: 'No sessions.' } }
    },
  },
  capacity: {
    takes: '<classSessionId> <seats>',
    does: 'sets the number of seats of a class session, never below those sold and held',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, seats], change }) {
      const capacity = wholeNumber(required(seats, 'number of seats'), 'A number of seats')
      return {
        value: await change('enrollment', `/admin/class-sessions/${segment(id, 'session')}/capacity`, { capacity }),
      }
    },
  },
  meetings: {
    takes: '<classSessionId>',
    does: 'lists the meetings of a class session',
    of: ['enrollment'],
    lists: true,
    async run({ words: [id] }) {
      const path = `/admin/class-sessions/${segment(id, 'session')}`
      const { meetings = [] } = listedSessionSchema.parse(await json('enrollment', 'GET', path))
      const columns = ['number', 'date', 'startTime', 'durationMinutes', 'startsAt']
      return { list: { name: 'meetings', rows: meetings, columns, none: 'No meetings.' } }
    },
  },
  'move-meeting': {
    takes: '<classSessionId> <number> <date> [HH:MM]',
    does: 'moves a meeting: calendars are updated, and each family gets a mail',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, number, date, startTime], change }) {
      const body = { id: randomUUIDv7(), date: required(date, 'date'), startTime }
      return { value: await change('enrollment', `${meetingPath(id, number)}/move`, body) }
    },
  },
  'skip-meeting': {
    takes: '<classSessionId> <number>',
    does: 'skips the date of a meeting, which moves it and all later ones by a week: each family gets a mail',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, number], change }) {
      return { value: await change('enrollment', `${meetingPath(id, number)}/skip`, { id: randomUUIDv7() }) }
    },
  },
  'cancel-session': {
    takes: '<classSessionId> [days]',
    does: 'cancels a class: each family chooses another class or its money within 7 days (or as many as given), and what is not chosen is refunded; --dry-run lists the families and their money, and again later how far they are',
    of: ['enrollment'],
    lists: true,
    changes: true,
    destroys: 'A canceled class cannot be opened again, and each of its families gets a mail.',
    async run({ words: [id, days], options }) {
      const path = `/admin/class-sessions/${segment(id, 'session')}/cancellation`
      const before = classCancellationSchema.parse(await json('enrollment', 'GET', path))
      const body = {
        id: randomUUIDv7(),
        families: before.families.length,
        ...(days === undefined ? {} : { days: wholeNumber(days, 'A number of days') }),
      }
      const what = `cancel ${before.levelTitle}, ${before.date}, and give back ${formatMoney({ amount: before.back, currency: 'usd' })} to ${before.families.length} families that do not choose another class`
      const isDone = before.status === 'cancelled'
      if (isDone) console.error(`${before.levelTitle}, ${before.date}, was canceled at ${before.cancelledAt}.`)
      else if (options['dry-run']) console.error(`Dry run, nothing was changed. Without --dry-run: ${what}.`)
      const isChanged = !isDone && !options['dry-run']
      const after = isChanged ? await json('enrollment', 'POST', path, body) : before
      const { families, unpaid, waiting } = classCancellationSchema.parse(after)
      if (unpaid + waiting > 0) console.error(`${unpaid} unpaid and ${waiting} in line are told that it is canceled.`)
      const rows = families.map(({ children, ...family }) => ({ ...family, children: children.join(', ') }))
      const columns = ['registrationId', 'guardianName', 'email', 'children', 'back', 'state']
      return { list: { name: 'families', rows, columns, none: 'No families.' } }
    },
  },
  waitlist: {
    takes: '<classSessionId>',
    does: 'lists the line of a class: who has an offer until when, who waits, and how often each was passed over',
    of: ['enrollment'],
    lists: true,
    async run({ words: [id] }) {
      const path = `/admin/class-sessions/${segment(id, 'session')}/waitlist`
      const { entries } = waitlistLineSchema.parse(await json('enrollment', 'GET', path))
      const rows = entries.map(({ children, ...entry }) => ({ ...entry, seats: children.length }))
      const columns = [
        'entryId',
        'place',
        'status',
        'seats',
        'guardianName',
        'email',
        'offerEndsAt',
        'passedOver',
        'createdAt',
      ]
      return { list: { name: 'waitlist', rows, columns, none: 'Nobody waits.' } }
    },
  },
  'waitlist remove': {
    takes: '<entryId>',
    does: 'removes a family from the line of a class; the seats of its offer go to the next family',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id], change }) {
      return { value: await change('enrollment', `/admin/waitlist/${segment(id, 'entry')}/remove`) }
    },
  },
  link: {
    takes: '<classSessionId> <https://…> [passcode]',
    does: 'sets the link of a class, which its paid and signed families get',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, joinUrl, passcode], change }) {
      const body = { joinUrl: required(joinUrl, 'link'), passcode }
      return { value: await change('enrollment', `/admin/class-sessions/${segment(id, 'session')}/link`, body) }
    },
  },
  coach: {
    takes: '<classSessionId> <name…>',
    does: 'names the coach of a class',
    of: ['enrollment'],
    changes: true,
    async run({ words: [id, ...names], change }) {
      const coachName = required(names.join(' ') || undefined, 'name')
      return {
        value: await change('enrollment', `/admin/class-sessions/${segment(id, 'session')}/coach`, { coachName }),
      }
    },
  },
}

function meetingPath(id: string | undefined, number: string | undefined): string {
  const count = wholeNumber(required(number, 'number of the meeting'), 'A number of a meeting')
  return `/admin/class-sessions/${segment(id, 'session')}/meetings/${count}`
}

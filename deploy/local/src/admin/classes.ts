import { classSessionsSchema, seasonsSchema } from '@robokids/contracts/enrollment'
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
}

import { createInterface } from 'node:readline/promises'
import { addresses, json, OperatorError } from '../operated-system.ts'
import type { ServiceName } from '../services.ts'
import type { Output } from './output.ts'

/** The options of commands, for `parseArgs`. */
export const optionTypes = {
  email: { type: 'string' },
  status: { type: 'string' },
  payment: { type: 'string' },
  season: { type: 'string' },
  limit: { type: 'string' },
  cursor: { type: 'string' },
  all: { type: 'boolean', default: false },
  service: { type: 'string', multiple: true },
  json: { type: 'boolean', default: false },
  csv: { type: 'boolean', default: false },
  output: { type: 'string' },
  'dry-run': { type: 'boolean', default: false },
  yes: { type: 'boolean', default: false },
  help: { type: 'boolean', default: false },
} as const

export type OptionName = keyof typeof optionTypes

export interface Options {
  email?: string | undefined
  status?: string | undefined
  payment?: string | undefined
  season?: string | undefined
  limit?: string | undefined
  cursor?: string | undefined
  all: boolean
  service?: string[] | undefined
  json: boolean
  csv: boolean
  output?: string | undefined
  'dry-run': boolean
}

export interface Call {
  words: string[]
  options: Options
  /** The processes that answered, of those that the command is for. */
  services: ServiceName[]
  /**
   * Sends a request that changes something, unless this is a dry run: then it is only described.
   * @returns the response; undefined in a dry run
   */
  change: (service: ServiceName, path: string, body?: object) => Promise<unknown>
  /** The same for any other change. */
  perform: <Result>(what: string, act: () => Promise<Result>) => Promise<Result | undefined>
}

export interface Command {
  /** Its arguments, as the help shows them: `<registrationId> [cents]`. One that ends in `…` may be repeated. */
  takes?: string
  /** For the help: what it does. */
  does: string
  /** Besides those of all lists, or of all changes. */
  options?: readonly OptionName[]
  /** The processes that it calls, which must belong to one system; empty if it calls none. May depend on its arguments. */
  of: readonly ServiceName[] | ((words: string[]) => readonly ServiceName[])
  /** Whether it prints a list, which can be had as JSON, as CSV or in a file. */
  lists?: boolean
  /** Whether it changes something: only in the system that SYSTEM_NAME names, and not in a dry run. */
  changes?: boolean
  /** Why it has to be confirmed: what cannot be undone. */
  destroys?: string
  run(call: Call): Promise<Output | undefined>
}

/** Commands by name. A name may have two words: `dead-letters show`. */
export type Commands = Record<string, Command>

/** @throws OperatorError if an argument is missing */
export function required(value: string | undefined, what: string): string {
  if (value === undefined) throw new OperatorError(`Which ${what}?`)
  return value
}

/** A required argument as a segment of a path. */
export const segment = (value: string | undefined, what: string) => encodeURIComponent(required(value, what))

/** @throws OperatorError if it is no whole number */
export function wholeNumber(text: string, what: string): number {
  if (!/^-?\d+$/.test(text)) throw new OperatorError(`${what} is a whole number, not "${text}".`)
  return Number(text)
}

/** Returns a query string of the parameters that are given. */
export function queryOf(parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`
}

/** The functions of a call that change something. */
export function changing(dryRun: boolean): Pick<Call, 'change' | 'perform'> {
  const describe = (what: string) => {
    console.log(`Dry run, nothing was changed. Without --dry-run: ${what}`)
    return undefined
  }
  return {
    async change(service, path, body) {
      if (!dryRun) return json(service, 'POST', path, body)
      return describe(`POST ${addresses[service]}${path}${body === undefined ? '' : ` ${JSON.stringify(body)}`}`)
    },
    perform: async (what, act) => (dryRun ? describe(what) : act()),
  }
}

/**
 * Asks at the terminal whether to do what cannot be undone.
 * @throws OperatorError if the answer is not yes, or if there is nobody to ask
 */
export async function confirm(destroys: string): Promise<void> {
  if (!process.stdin.isTTY)
    throw new OperatorError(`Nothing was changed. ${destroys} Add --yes to confirm it, or see what --dry-run says.`)
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${destroys} Continue? (y/N) `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new OperatorError('Nothing was changed.')
}

import { randomUUID } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { stringify } from 'csv-stringify/sync'
import { OperatorError } from '../operated-system.ts'
import type { Options } from './command.ts'

/** A list: a table, unless the options ask for JSON or CSV. */
export interface List {
  /** The name of the rows in JSON. */
  name: string
  rows: object[]
  /** The columns of the table. JSON and CSV contain all fields. */
  columns: string[]
  /** Printed in place of a table without rows. */
  none: string
  /** Further fields of the JSON. */
  more?: object
}

/** What a command prints: text, a list, a file that a process has written, or any other value as JSON. */
export type Output = string | { list: List } | { stream: Readable } | { value: unknown }

const isEmpty = (value: unknown) => value === null || value === undefined
function cell(value: unknown): string {
  if (isEmpty(value)) return ''
  if (Array.isArray(value) && value.every((item) => typeof item !== 'object')) return value.join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function table({ rows, columns, none }: List): string {
  if (rows.length === 0) return none
  const lines = [
    columns,
    ...rows.map((row) => columns.map((name) => cell((row as Record<string, unknown>)[name]).split('\n')[0] ?? '')),
  ]
  const widths = columns.map((_, index) => Math.max(...lines.map((line) => (line[index] ?? '').length)))
  return lines
    .map((line) =>
      line
        .map((text, index) => text.padEnd(widths[index] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

/** RFC 4180 with a byte-order mark for Excel. Cells that a spreadsheet would execute as a formula are escaped. */
function csv({ rows, columns }: List): string {
  const names = [...new Set([...columns, ...rows.flatMap((row) => Object.keys(row))])]
  const cells = rows.map((row) => names.map((name) => cell((row as Record<string, unknown>)[name])))
  return stringify([names, ...cells], { bom: true, record_delimiter: 'windows', escape_formulas: true })
}

const jsonText = (value: unknown) => `${JSON.stringify(value, null, 2)}\n`

function textOf(output: Exclude<Output, { stream: Readable }>, options: Options): string {
  if (typeof output === 'string') return `${output}\n`
  if ('value' in output) return jsonText(output.value)
  const { list } = output
  if (options.json) return jsonText({ [list.name]: list.rows, ...list.more })
  return options.csv ? csv(list) : `${table(list)}\n`
}

/**
 * Writes a file completely or not at all, readable only by its owner: it contains personal data.
 * @throws OperatorError
 */
async function save(file: string, content: Readable): Promise<void> {
  // npm runs scripts in the project's folder, wherever it is called.
  const path = resolve(process.env['INIT_CWD'] ?? '.', file)
  const part = `${path}.${randomUUID()}.part`
  try {
    await pipeline(content, createWriteStream(part, { mode: 0o600 }))
    await rename(part, path)
  } catch (error) {
    await rm(part, { force: true })
    throw new OperatorError(`${path} was not written: ${(error as Error).message}`)
  }
  console.error(`Written to ${path}`)
}

/** @throws OperatorError if the output is for another program, and npm would print lines of its own before it */
export function rejectNpmLines({ json, csv, output }: Options): void {
  if ((!json && !csv) || output !== undefined || process.stdout.isTTY) return
  if (process.env['npm_lifecycle_event'] !== 'admin' || process.env['npm_config_loglevel'] === 'silent') return
  const format = csv ? 'a CSV' : 'the JSON'
  throw new OperatorError(`npm prints lines before ${format}: use --output FILE, or npm run --silent admin.`)
}

/** Prints what a command returns, or writes it to the file that the options name. @throws OperatorError */
export async function write(output: Output, options: Options): Promise<void> {
  const content =
    typeof output === 'object' && 'stream' in output ? output.stream : Readable.from([textOf(output, options)])
  if (options.output !== undefined) return save(options.output, content)
  await pipeline(content, process.stdout, { end: false }).catch((error: unknown) => {
    throw new OperatorError(`The list was interrupted: ${(error as Error).message}`)
  })
}

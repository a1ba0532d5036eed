/**
 * The state file: an SQLite database with a row per record, in order of creation. A change
 * writes only the changed rows.
 */
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname } from 'node:path'
import { DatabaseSync, type StatementSync } from 'node:sqlite'

/** A record in the file. */
export interface Row {
  /** Rows are numbered in order of creation. */
  row: number
  table: string
  key: string
  /** JSON. */
  value: string
}

/** The new value of a row: null deletes it. */
export type RowChange = Omit<Row, 'value'> & { value: string | null }

/** The file is not a state that this version can read. */
export class UnreadableState extends Error {}

/** 1 and 2 were JSON files, rewritten on every change; 1 had fewer tables. */
const stateFormat = 3
const jsonFormats: readonly unknown[] = [1, 2]

const magic = 'SQLite format 3\0'
/** SQLite's result codes; the high bits are the extended code. */
const busy = 5
const corruptCodes = [11, 26]

const schema = `
  CREATE TABLE record (number INTEGER PRIMARY KEY, kind TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL) STRICT;
  PRAGMA user_version = ${stateFormat};
`

/** The files that this process has open. It must not open them otherwise: closing a file releases its locks. */
const openFiles = new Set<string>()

export class StateFile {
  /** Statistics of writes since the start. */
  readonly written = { rows: 0, bytes: 0 }

  readonly #identity: string
  readonly #database: DatabaseSync
  readonly #put: StatementSync
  readonly #remove: StatementSync

  private constructor(database: DatabaseSync, identity: string) {
    this.#identity = identity
    openFiles.add(identity)
    this.#database = database
    this.#put = database.prepare(
      'INSERT INTO record (number, kind, key, value) VALUES (?, ?, ?, ?) ON CONFLICT (number) DO UPDATE SET value = excluded.value',
    )
    this.#remove = database.prepare('DELETE FROM record WHERE number = ?')
  }

  /**
   * Opens or creates the file; an earlier format is converted. Until it is closed, or the
   * process ends, no other process can open it.
   * @throws UnreadableState
   * @throws Error if another simulator has it open
   */
  static open(path: string): StateFile {
    mkdirSync(dirname(path), { recursive: true })
    if (existsSync(path) && openFiles.has(identityOf(path))) throw inUse(path)
    const start = firstBytes(path)
    if (start !== '' && start !== magic) convertJsonFile(path)
    return StateFile.#openDatabase(path)
  }

  static #openDatabase(path: string): StateFile {
    // It contains webhook secrets: only the owner may read it. SQLite creates its other files with the same mode.
    closeSync(openSync(path, 'a', 0o600))
    const database = new DatabaseSync(path)
    try {
      // A commit appends to the write-ahead log, and survives a crash of the process once it has returned.
      database.exec('PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;')
      database.exec('BEGIN IMMEDIATE')
      const { user_version: format } = database.prepare('PRAGMA user_version').get() ?? {}
      if (format === 0) database.exec(schema)
      else if (format !== stateFormat) throw new UnreadableState('it has a format that this version does not read')
      database.exec('COMMIT')
      return new StateFile(database, identityOf(path))
    } catch (error) {
      database.close()
      throw reasonFor(error, path)
    }
  }

  /**
   * Returns every record, in order of creation.
   * @throws UnreadableState
   */
  *rows(): Generator<Row> {
    try {
      const all = this.#database.prepare('SELECT number, kind, key, value FROM record ORDER BY number')
      // Reading arrays takes a third less time than objects.
      all.setReturnArrays(true)
      for (const found of all.iterate()) {
        const [row, table, key, value] = found as unknown as [number, string, string, string]
        yield { row, table, key, value }
      }
    } catch (error) {
      throw reasonFor(error, '')
    }
  }

  /** Applies all changes in one transaction. */
  write(changes: readonly RowChange[]): void {
    this.#database.exec('BEGIN')
    try {
      for (const { row, table, key, value } of changes) {
        if (value === null) this.#remove.run(row)
        else this.#put.run(row, table, key, value)
      }
      this.#database.exec('COMMIT')
    } catch (error) {
      if (this.#database.isTransaction) this.#database.exec('ROLLBACK')
      throw error
    }
    this.written.rows += changes.length
    for (const { value } of changes) this.written.bytes += value === null ? 0 : Buffer.byteLength(value)
  }

  close(): void {
    this.#database.close()
    openFiles.delete(this.#identity)
  }
}

/** Moves an unreadable file and its companions aside; returns the new path. */
export function moveAside(path: string): string {
  const aside = `${path}.broken-${Date.now()}`
  renameSync(path, aside)
  if (existsSync(`${path}-wal`)) renameSync(`${path}-wal`, `${aside}-wal`)
  return aside
}

function firstBytes(path: string): string {
  if (!existsSync(path)) return ''
  const file = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(magic.length)
    return bytes.toString('latin1', 0, readSync(file, bytes))
  } finally {
    closeSync(file)
  }
}

/** The canonical path of a file. */
function identityOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev} ${ino}`
}

function inUse(path: string): Error {
  return new Error(`The state file ${path} is in use by another payment simulator.`)
}

function reasonFor(error: unknown, path: string): unknown {
  const code = typeof error === 'object' && error !== null && 'errcode' in error ? Number(error.errcode) & 0xff : 0
  if (code === busy) return inUse(path)
  if (corruptCodes.includes(code)) return new UnreadableState('it is damaged')
  return error
}

/** Replaces a JSON file by a database: atomically, so that a crash leaves one or the other. */
function convertJsonFile(path: string): void {
  const rows = rowsOf(readFileSync(path, 'utf8'))
  const next = `${path}.next`
  rmSync(next, { force: true })
  closeSync(openSync(next, 'a', 0o600))
  const database = new DatabaseSync(next)
  try {
    database.exec('BEGIN')
    database.exec(schema)
    const add = database.prepare('INSERT INTO record (number, kind, key, value) VALUES (?, ?, ?, ?)')
    for (const { row, table, key, value } of rows) add.run(row, table, key, value)
    database.exec('COMMIT')
  } finally {
    database.close()
  }
  renameSync(next, path)
}

/** Reads the records of a JSON file. @throws UnreadableState */
function rowsOf(text: string): Row[] {
  let saved: unknown
  try {
    saved = JSON.parse(text)
  } catch {
    throw new UnreadableState('it is not JSON')
  }
  if (typeof saved !== 'object' || saved === null || !('format' in saved) || !jsonFormats.includes(saved.format)) {
    throw new UnreadableState('it has a format that this version does not read')
  }
  const rows: Row[] = []
  const add = (table: string, key: string, value: object) =>
    rows.push({ row: rows.length + 1, table, key, value: JSON.stringify(value) })
  for (const [name, table] of Object.entries<unknown>(saved as Record<string, unknown>)) {
    if (name === 'format') continue
    if (name === 'clockOffsetMs') {
      add('clock', 'offset', { ms: Number(table) || 0 })
      continue
    }
    if (!Array.isArray(table) || !table.every(isEntry)) throw new UnreadableState(`its table ${name} is damaged`)
    for (const [key, value] of table) add(name, key, value)
  }
  return rows
}

function isEntry(value: unknown): value is [string, object] {
  return (
    Array.isArray(value) &&
    value.length === 2 &&
    typeof value[0] === 'string' &&
    typeof value[1] === 'object' &&
    value[1] !== null
  )
}

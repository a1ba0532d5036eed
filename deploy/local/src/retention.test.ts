import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runtimeTables, type TableLife } from '@robokids/runtime/sweep'
import { describe, expect, it } from 'vitest'
import { applications, owningServices } from './services.ts'
import { root } from './settings.ts'

/** NATS_STREAM_DAYS */
const defaultStreamDays = 30

const document = await readFile(join(root, 'docs/retention.md'), 'utf8')
const rows = new Set(
  [...document.matchAll(/^\|(.*)\|$/gm)].map(([, row = '']) =>
    row
      .split('|')
      .map((cell) => cell.trim())
      .join(' | ')
      .trim(),
  ),
)

/** The tables that a folder's migrations create, and do not drop or rename later. */
async function tablesOf(folder: string): Promise<string[]> {
  const tables = new Set<string>()
  for (const file of (await readdir(folder)).filter((name) => name.endsWith('.sql')).toSorted()) {
    const text = await readFile(join(folder, file), 'utf8')
    for (const [, verb, table = '', renamed] of text.matchAll(
      /(CREATE|DROP|ALTER) TABLE (?:IF (?:NOT )?EXISTS )?"?(\w+)"?(?: RENAME TO "?(\w+)"?)?/gi,
    )) {
      if (verb?.toUpperCase() === 'CREATE') tables.add(table)
      if (verb?.toUpperCase() === 'DROP' || renamed !== undefined) tables.delete(table)
      if (renamed !== undefined) tables.add(renamed)
    }
  }
  return [...tables].toSorted()
}

/** The lines of the document about a table. */
function describeLife(life: TableLife): string[] {
  if ('kept' in life) return [`always | ${life.kept}`]
  if ('until' in life) return [`until ${life.until} |`]
  return (Array.isArray(life) ? life : [life]).map(({ days, why, since }) => {
    const period = days === 0 ? 'until then' : days === 1 ? 'a day' : `${days} days`
    return `${period} (\`${since}\`) | ${why}`
  })
}

const missing = (tables: Record<string, TableLife>) =>
  Object.entries(tables).flatMap(([table, life]) =>
    describeLife(life)
      .map((line) => `\`${table}\` | ${line}`.trim())
      .filter((line) => !rows.has(line)),
  )

describe.each(owningServices)('The tables of %s', (name) => {
  it('all say how long their rows are kept, as docs/retention.md does', async () => {
    const { tables = {}, migrations = '' } = await applications[name].load()
    expect(Object.keys(tables).toSorted()).toEqual(await tablesOf(migrations))
    expect(missing(tables)).toEqual([])
  })
})

describe('The tables of the runtime', () => {
  it('all say how long their rows are kept, as docs/retention.md does', async () => {
    const tables = runtimeTables(defaultStreamDays)
    expect(Object.keys(tables).toSorted()).toEqual(await tablesOf(join(root, 'runtime/migrations')))
    expect(missing(tables)).toEqual([])
  })
})

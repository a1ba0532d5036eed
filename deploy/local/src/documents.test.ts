import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from './settings.ts'

const { stdout } = await promisify(execFile)('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  maxBuffer: 10_000_000,
})
const files = stdout.split('\n').filter((file) => file !== '')
const folders = new Set(files.map((file) => dirname(file)).flatMap((folder) => [folder, ...parentsOf(folder)]))
const documents = files.filter((file) => file.endsWith('.md') && !file.startsWith('docs/adr/'))

function parentsOf(folder: string): string[] {
  const parent = dirname(folder)
  return parent === '.' ? [] : [parent, ...parentsOf(parent)]
}

const exists = (path: string) => files.includes(path) || folders.has(path.replace(/\/$/, ''))
const quotedFiles = (text: string) =>
  [...text.matchAll(/`([\w./-]+\.(?:ts|tsx|mjs|md))`/g)].map(([, name = '']) => name)

/** Links to files, as paths from the root. */
function linksIn(document: string, text: string): string[] {
  const targets = [...text.matchAll(/\]\(([^)#:]+)(?:#[^)]*)?\)/g)].map(([, target = '']) => target)
  return targets.map((target) => normalize(join(dirname(document), target)))
}

/** The files of the README's map, which are in the folder of their row, as paths from the root. */
function mappedIn(text: string): string[] {
  const rows = [...text.matchAll(/^\| `([\w./-]+\/)` .*\|(.*)\|$/gm)]
  return rows.flatMap(([, folder = '', last = '']) => quotedFiles(last).map((file) => join(folder, file)))
}

describe.each(documents)('%s', (document) => {
  it('names only files that exist', async () => {
    const text = await readFile(join(root, document), 'utf8')
    const paths = [...linksIn(document, text), ...(document === 'README.md' ? mappedIn(text) : [])]
    expect(paths.filter((path) => !exists(path))).toEqual([])
    const names = quotedFiles(text)
    expect(names.filter((name) => !files.some((file) => `/${file}`.endsWith(`/${name}`)))).toEqual([])
  })
})

import { glob, readFile } from 'node:fs/promises'
import { join, resolve, sep } from 'node:path'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '..')

/** The folders in the order of the README's table. */
async function mappedFolders(): Promise<string[]> {
  const map = await readFile(join(src, '../README.md'), 'utf8')
  return [...map.matchAll(/^\| `([\w-]+)\/`/gm)].map(([, folder = '']) => folder)
}

/** Every relative import in the source files, including types and style sheets. */
async function imports(): Promise<{ file: string; from: string; to: string }[]> {
  const found = []
  for await (const file of glob('**/*.{ts,tsx,css}', { cwd: src, exclude: ['**/*.test.*'] })) {
    const text = await readFile(join(src, file), 'utf8')
    for (const [, path = ''] of text.matchAll(/['"](\.{1,2}\/[^'"]+)['"]/g)) {
      const target = resolve(src, file, '..', path)
      const [from = '', to = ''] = [file, target.slice(src.length + 1)].map((name) => name.split(sep)[0])
      found.push({ file, from, to })
    }
  }
  return found
}

it('every folder of the site is in the map of its README', async () => {
  const folders = new Set((await imports()).map(({ from }) => from))
  expect(new Set(await mappedFolders())).toEqual(folders)
})

it('a folder of the site imports only from those below it in the map of its README', async () => {
  const order = await mappedFolders()
  const all = await imports()
  expect(all.length).toBeGreaterThan(500)
  const upward = all.filter(({ from, to }) => order.indexOf(to) < order.indexOf(from) || !order.includes(to))
  expect(upward.map(({ file, to }) => `${file} imports ${to}/`)).toEqual([])
})

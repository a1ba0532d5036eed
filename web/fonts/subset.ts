/**
 * Makes the site's fonts, `src/ui/fonts`, of the characters and weights that it is set in: half of what their packages have.
 * They are committed, with their licences; `node web/fonts/subset.ts` makes them anew, after a change here or a new version.
 */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import subsetFont from 'subset-font'

const { resolve } = createRequire(import.meta.url)
const target = join(import.meta.dirname, '../src/ui/fonts')

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)).join('')
/** Latin-1, for names of families, and what texts are set with beside it. Other letters come from the reader's own fonts. */
const characters = `${range(0x20, 0x7e)}${range(0xa0, 0xff)}ıŒœ–—‘’“”„•…′″€™−→`

/** The package, and the weights that `base.css` names: one, or from one to another. */
const faces: [name: string, weight: number | { min: number; max: number }][] = [
  ['bricolage-grotesque', 700],
  ['atkinson-hyperlegible-next', { min: 400, max: 700 }],
  ['jetbrains-mono', { min: 400, max: 700 }],
]

for (const [name, wght] of faces) {
  const source = await readFile(resolve(`@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`))
  const font = await subsetFont(source, characters, {
    targetFormat: 'woff2',
    variationAxes: { wght },
    // Whose it is, and under which licence.
    preserveNameIds: [0, 13, 14],
  })
  await writeFile(join(target, `${name}.woff2`), font)
  await copyFile(resolve(`@fontsource-variable/${name}/LICENSE`), join(target, `${name}.LICENSE`))
  process.stdout.write(`${name}: ${font.length} bytes, of ${source.length}\n`)
}

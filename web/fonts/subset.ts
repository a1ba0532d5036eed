/**
 * Makes the site's fonts, `src/ui/fonts`, of the characters and weights that it is set in: half of what their packages have.
 * They are committed, with their licences; `node web/fonts/subset.ts` generates them, after a change here or a new version.
 */
import { copyFile, readFile, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import subsetFont from 'subset-font'

const { resolve } = createRequire(import.meta.url)
const target = join(import.meta.dirname, '../src/ui/fonts')

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, at) => String.fromCodePoint(from + at)).join('')
/** What the site's own texts are set with. */
const common = `${range(0x20, 0x7e)}\u00a0©·×°–—‘’“”•…→−`
/**
 * The rest of Latin-1, for names of families: a file of its own, which `base.css` has asked for where one of them is shown.
 * Other letters come from the reader's own fonts.
 */
const seldom = [...`${range(0xa1, 0xff)}ıŒœ„′″€™`].filter((character) => !common.includes(character)).join('')

/** The package, the weights that `base.css` names, one or from one to another, and what it is cut to. */
const faces: [name: string, weight: number | { min: number; max: number }, parts: Record<string, string>][] = [
  ['bricolage-grotesque', 700, { '': common, '-seldom': seldom }],
  // The other face's own has a slash, as in sketches: in prices it is read as something else.
  ['bricolage-grotesque', { min: 400, max: 700 }, { '-zero': '0' }],
  ['atkinson-hyperlegible-next', { min: 400, max: 700 }, { '': common, '-seldom': seldom }],
  ['jetbrains-mono', { min: 400, max: 700 }, { '': common }],
]

for (const [name, wght, parts] of faces) {
  const source = await readFile(resolve(`@fontsource-variable/${name}/files/${name}-latin-wght-normal.woff2`))
  for (const [part, characters] of Object.entries(parts)) {
    const font = await subsetFont(source, characters, {
      targetFormat: 'woff2',
      variationAxes: { wght },
      // No ligatures and alternates: in sketches they would show other signs than are to be typed.
      noLayoutClosure: true,
      // Whose it is, and under which licence.
      preserveNameIds: [0, 13, 14],
    })
    await writeFile(join(target, `${name}${part}.woff2`), font)
    process.stdout.write(`${name}${part}: ${font.length} bytes, of ${source.length}\n`)
  }
  await copyFile(resolve(`@fontsource-variable/${name}/LICENSE`), join(target, `${name}.LICENSE`))
}

import { glob, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { preprocessCSS, resolveConfig } from 'vite'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '..')

/** The classes of a CSS module as Vite exports them, sorted by name. */
async function classNames(file: string, config: Awaited<ReturnType<typeof resolveConfig>>): Promise<string[]> {
  const { modules = {} } = await preprocessCSS(await readFile(join(src, file), 'utf8'), join(src, file), config)
  return Object.keys(modules).toSorted()
}

/** Run with `--update` after changing classes: the type check then knows them. */
it('declares every class of every CSS module, and no other', async () => {
  const config = await resolveConfig({ configFile: false, logLevel: 'error' }, 'build')
  const files = (await Array.fromAsync(glob('**/*.module.css', { cwd: src }))).toSorted()
  // Declarations match by file name, as an ambient module cannot have a relative path.
  expect(new Set(files.map((file) => basename(file))).size).toBe(files.length)
  const declarations = ['// Written by `css-modules.test.ts`.']
  for (const file of files) {
    const names = (await classNames(file, config)).map((name) => `    readonly ${name}: string\n`)
    declarations.push(
      `declare module '*/${basename(file)}' {\n  const styles: {\n${names.join('')}  }\n  export default styles\n}`,
    )
  }
  await expect(`${declarations.join('\n\n')}\n`).toMatchFileSnapshot('css-modules.d.ts')
})

/**
 * What a page loads before it can be used: `node web/first-load.ts [path …]` builds the site and prints each page's
 * scripts, gzipped, with their share of each package and of our own folders.
 */
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { createBuilder, type Plugin } from 'vite'

/** The gzipped bytes of each script that the page's document names, by its address. */
export async function firstLoadScripts(dist: string, path: string): Promise<Map<string, number>> {
  const document = await readFile(join(dist, path === '/' ? 'index.html' : `${path.slice(1)}.html`), 'utf8')
  const addresses = new Set(
    [...document.matchAll(/<(?:link rel="modulepreload" href|script type="module" src)="([^"]+)"/g)].map(
      ([, address = '']) => address,
    ),
  )
  const sizes = new Map<string, number>()
  for (const address of addresses) {
    const file = join(dist, address)
    // Where gzip does not make it smaller there is none.
    const smaller = await stat(`${file}.gz`).catch(() => stat(file))
    sizes.set(address, smaller.size)
  }
  return sizes
}

/** The package that a module is of, or the folder of ours. */
function sourceOf(module: string): string {
  const inPackage = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(module)
  if (inPackage?.[1]) return inPackage[1]
  const [folder = '', next = ''] = relative(join(import.meta.dirname, 'src'), module).split('/')
  if (folder === '..') return module.includes('/contracts/') ? 'contracts' : 'build'
  return next === '' ? 'web' : `web/${folder}`
}

const print = (line: string) => process.stdout.write(`${line}\n`)

async function report(paths: string[]): Promise<void> {
  const parts = new Map<string, Map<string, number>>()
  const dist = await mkdtemp(join(tmpdir(), 'first-load-'))
  const measure: Plugin = {
    name: 'measure',
    applyToEnvironment: ({ name }) => name === 'client',
    generateBundle(_options, bundle) {
      for (const chunk of Object.values(bundle)) {
        if (chunk.type !== 'chunk') continue
        const bySource = new Map<string, number>()
        for (const [module, { renderedLength }] of Object.entries(chunk.modules)) {
          bySource.set(sourceOf(module), (bySource.get(sourceOf(module)) ?? 0) + renderedLength)
        }
        parts.set(`/${chunk.fileName}`, bySource)
      }
    },
  }
  const builder = await createBuilder({
    root: import.meta.dirname,
    logLevel: 'error',
    build: { outDir: dist, emptyOutDir: true },
    plugins: [measure],
  })
  await builder.buildApp()
  print(`${parts.size} scripts in all`)
  for (const path of paths) {
    const scripts = await firstLoadScripts(dist, path)
    const shares = new Map<string, number>()
    for (const [address, size] of scripts) {
      const bySource = parts.get(address) ?? new Map([['?', 1]])
      const whole = [...bySource.values()].reduce((sum, length) => sum + length, 0) || 1
      for (const [source, length] of bySource) shares.set(source, (shares.get(source) ?? 0) + (size * length) / whole)
    }
    const total = [...scripts.values()].reduce((sum, size) => sum + size, 0)
    print(`\n${path}  ${(total / 1000).toFixed(1)} KB in ${scripts.size} files`)
    for (const [source, size] of [...shares].toSorted(([, one], [, other]) => other - one)) {
      if (size >= 100) print(`  ${(size / 1000).toFixed(1).padStart(6)}  ${source}`)
    }
  }
  await rm(dist, { recursive: true })
}

if (import.meta.main)
  await report(process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['/', '/terms', '/robokidspage1'])

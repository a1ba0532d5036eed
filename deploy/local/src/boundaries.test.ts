import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from './settings.ts'

interface PlantedImport {
  file: string
  imports: string
  asType?: true
}

const refused: PlantedImport[] = [
  { file: 'services/billing/src/checkout/rules.ts', imports: '../stripe/client.ts' },
  { file: 'services/billing/src/checkout/rules.ts', imports: '../schema.ts' },
  { file: 'services/billing/src/seat-rules.ts', imports: './read-prices.ts' },
  { file: 'services/enrollment/src/rules.ts', imports: 'pg' },
  { file: 'services/enrollment/src/rules.ts', imports: 'node:fs/promises' },
  { file: 'services/enrollment/src/rules.ts', imports: '@robokids/runtime/outbox' },
  { file: 'services/billing/src/app.ts', imports: '@robokids/enrollment/app' },
  { file: 'services/billing/src/app.ts', imports: '@robokids/a-service-to-come/app' },
  { file: 'services/billing/src/app.ts', imports: '../../enrollment/src/app.ts' },
  { file: 'services/billing/src/app.ts', imports: '@robokids/test/bed' },
  { file: 'services/billing/src/app.ts', imports: 'nats' },
  { file: 'bff/src/app.ts', imports: '@robokids/web/router' },
  { file: 'bff/src/app.ts', imports: '../../services/billing/src/app.ts' },
  { file: 'web/src/app/router.tsx', imports: '@robokids/runtime/errors' },
  { file: 'web/src/app/router.tsx', imports: '@robokids/a-service-to-come/app' },
  { file: 'web/src/shop/queries.ts', imports: '../../../bff/src/app.ts' },
  { file: 'web/src/app/router.tsx', imports: 'node:fs' },
  { file: 'runtime/src/bus.ts', imports: '../../services/billing/src/app.ts' },
  { file: 'runtime/src/bus.ts', imports: '@robokids/contracts/shop' },
  { file: 'runtime/src/bus.ts', imports: '@robokids/billing/app' },
  { file: 'contracts/src/fields.ts', imports: 'fastify' },
  { file: 'contracts/src/fields.ts', imports: '@robokids/runtime/errors' },
  { file: 'typesetting/src/sheet.ts', imports: '@robokids/contracts/errors' },
]

const allowed: PlantedImport[] = [
  { file: 'services/billing/src/checkout/rules.ts', imports: '../schema.ts', asType: true },
  { file: 'services/billing/src/checkout/rules.ts', imports: '../prices/rules.ts' },
  { file: 'services/billing/src/checkout/rules.ts', imports: '@robokids/contracts/pricing' },
  { file: 'services/billing/src/checkout/rules.ts', imports: '@robokids/runtime/errors' },
  { file: 'services/billing/src/app.ts', imports: '@robokids/runtime/service' },
  { file: 'bff/src/app.ts', imports: '@robokids/typesetting/sheet' },
  { file: 'web/src/app/router.tsx', imports: '@robokids/contracts/pages' },
  { file: 'web/src/content/content.test.ts', imports: 'node:fs/promises' },
  { file: 'runtime/src/bus.ts', imports: '@robokids/contracts/event' },
  { file: 'contracts/src/fields.ts', imports: 'zod' },
]

const run = promisify(execFile)
let folder: string

interface Linted {
  diagnostics: { code: string; filename: string; labels: { span: { line: number } }[] }[]
}

/** Returns the imports that the repository's lint rules report, each on its own line in its file. */
async function reported(planted: PlantedImport[]): Promise<string[]> {
  const { overrides } = JSON.parse(await readFile(join(root, '.oxlintrc.json'), 'utf8')) as { overrides: unknown[] }
  await writeFile(join(folder, '.oxlintrc.json'), JSON.stringify({ plugins: [], categories: {}, overrides }))
  const files = Map.groupBy(planted, ({ file }) => file)
  for (const [file, all] of files) {
    const lines = all.map(
      ({ imports, asType }, nth) => `import ${asType ? 'type ' : ''}{ x as x${nth} } from '${imports}'`,
    )
    await mkdir(join(folder, dirname(file)), { recursive: true })
    await writeFile(join(folder, file), lines.join('\n'))
  }
  const lint = run(join(root, 'node_modules/.bin/oxlint'), ['--format', 'json', ...files.keys()], { cwd: folder })
  const { stdout } = await lint.catch((error: { stdout: string }) => error)
  const { diagnostics } = JSON.parse(stdout) as Linted
  const found = diagnostics
    .filter(({ code }) => code.includes('no-restricted-imports'))
    .map(({ filename, labels: [label] }) => {
      const one = label && files.get(filename)?.[label.span.line - 1]
      return `${filename}: ${one?.imports}`
    })
  // Two rules may report the same import.
  return [...new Set(found)].toSorted()
}

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'robokids-boundaries-'))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

describe('Import boundaries', () => {
  it('The linter reports every import across a boundary', async () => {
    const all = refused.map(({ file, imports }) => `${file}: ${imports}`)
    expect(await reported(refused)).toEqual(all.toSorted())
  })

  it('The linter accepts allowed imports', async () => {
    expect(await reported(allowed)).toEqual([])
  })
})

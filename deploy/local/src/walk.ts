import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { findNatsServer } from './nats.ts'
import { findPostgres } from './postgres.ts'
import { root } from './settings.ts'

/** `npm run walk`: random walks through the system; arguments are passed to test/walk/main.ts. */
if (process.env['TEST_INFRA'] !== 'containers') await Promise.all([findNatsServer(), findPostgres()])
const fastImports = `--import=${pathToFileURL(join(root, 'runtime/src/fast-imports.ts')).href}`
const child = spawn(process.execPath, [fastImports, join(root, 'test/walk/main.ts'), ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.on('SIGINT', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
const [code] = (await once(child, 'exit')) as [number | null]
process.exit(code ?? 1)

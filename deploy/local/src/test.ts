import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { promisify } from 'node:util'
import { findChromium } from './chromium.ts'
import { findNatsServer } from './nats.ts'
import { findPostgres } from './postgres.ts'
import { buildWeb } from './web-build.ts'

/** `npm test`: all tests that need no container engine; arguments are passed to vitest. */
const browser = await findChromium()
const inContainers = process.env['TEST_INFRA'] === 'containers'
const servers = inContainers ? [] : [await findNatsServer(), (await findPostgres()).postgres]

// Versions depend on the machine, so they are printed to help explain failures.
for (const program of [browser, ...servers]) {
  // On Windows this would open a window.
  if (program === browser && process.platform === 'win32') continue
  const { stdout } = await promisify(execFile)(program, ['--version'])
  console.log(`${stdout.trim()} (${program})`)
}

await buildWeb()
const child = spawn('vitest', ['run', ...process.argv.slice(2)], {
  stdio: 'inherit',
  env: { ...process.env, CHROMIUM_PATH: browser },
})
const [code] = (await once(child, 'exit')) as [number | null]
process.exit(code ?? 1)

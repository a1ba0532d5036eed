import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { findChromium } from './chromium.ts'
import { findNatsServer } from './nats.ts'
import { buildWeb } from './web-build.ts'

/** `npm test`: everything that needs no container engine; arguments go to vitest. */
const env = { ...process.env, CHROMIUM_PATH: await findChromium() }
if (process.env['TEST_INFRA'] !== 'containers') await findNatsServer()
await buildWeb()
const child = spawn('vitest', ['run', ...process.argv.slice(2)], { stdio: 'inherit', env })
const [code] = (await once(child, 'exit')) as [number | null]
process.exit(code ?? 1)

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { isListening } from './processes.ts'

it('A process that ends by an unexpected error stops the processes that it has started', async () => {
  const server = `
    const server = require('node:net').createServer()
    server.listen(0, '127.0.0.1', () => console.log(server.address().port))`
  const program = `
    const { launch } = await import(${JSON.stringify(import.meta.resolve('./processes.ts'))})
    const child = launch(process.execPath, ['-e', ${JSON.stringify(server)}])
    child.process.stdout.once('data', (port) => {
      console.log(String(port))
      setTimeout(() => { throw new Error('unexpected') })
    })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [port, [code]] = await Promise.all([text(parent.stdout), once(parent, 'exit')])
  expect(code).toBe(1)
  expect(Number(port)).toBeGreaterThan(0)
  await expect.poll(() => isListening(Number(port)), { timeout: 5_000 }).toBe(false)
})

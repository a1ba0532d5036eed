import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'

it('takes what it started along when it ends by an error that nobody expected', async () => {
  const program = `
    const { launch } = await import(${JSON.stringify(import.meta.resolve('./processes.ts'))})
    const server = launch(process.execPath, ['-e', 'console.log("up"); setInterval(() => {}, 1000)'])
    server.process.stdout.once('data', () => {
      console.log(server.process.pid)
      setTimeout(() => { throw new Error('unexpected') })
    })`
  const parent = spawn(process.execPath, ['--input-type=module', '-e', program], {
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const [said, [code]] = await Promise.all([text(parent.stdout), once(parent, 'exit')])
  expect(code).toBe(1)
  const pid = Number(said)
  expect(pid).toBeGreaterThan(0)
  await expect.poll(() => hasEnded(pid)).toBe(true)
})

/** Ended, or waiting to be fetched by whoever inherited it. */
function hasEnded(pid: number): boolean {
  const state = spawnSync('ps', ['-o', 'stat=', '-p', String(pid)], { encoding: 'utf8' }).stdout.trim()
  return state === '' || state.startsWith('Z')
}

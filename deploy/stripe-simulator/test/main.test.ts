import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

function run(env: Record<string, string>) {
  const child = spawn(process.execPath, [main], { env: { PATH: process.env['PATH'], ...env } })
  onTestFinished(() => {
    child.kill('SIGKILL')
  })
  return child
}

describe('the process', () => {
  it('serves until it is stopped', async () => {
    const child = run({ PORT: '0', WEBHOOK_URL: 'http://127.0.0.1:9/hook', WEBHOOK_SECRET: 'whsec_a,whsec_b' })
    const [line] = (await once(child.stdout, 'data')) as [Buffer]
    const url = /http:\/\/\S+/.exec(line.toString())?.[0]
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
  })

  it('reports errors in its environment', async () => {
    const child = run({ PORT: 'none', WEBHOOK_URL: 'http://127.0.0.1:9/hook' })
    const [message] = (await once(child.stderr, 'data')) as [Buffer]
    expect(message.toString()).toContain('PORT')
    expect(await once(child, 'exit')).toEqual([1, null])
  })
})

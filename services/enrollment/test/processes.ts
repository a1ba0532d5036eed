import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'

const main = fileURLToPath(new URL('../src/main.ts', import.meta.url))

export interface EnrollmentProcess {
  url: string
  /** SIGTERM: a graceful stop. */
  stop(): Promise<void>
  /** SIGKILL */
  kill(): Promise<void>
}

/**
 * Runs enrollment in its own process, as deployed. Resolves once it is ready.
 * @param entry another `main.ts` than ours.
 */
export async function spawnEnrollment(env: Record<string, string>, entry = main): Promise<EnrollmentProcess> {
  const child = spawn(process.execPath, [entry], {
    env: { ...process.env, APP_ENV: 'local', PORT: '0', LOG_LEVEL: 'info', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  const ready = Promise.withResolvers<number>()
  let errorOutput = ''
  child.stderr.on('data', (chunk: Buffer) => {
    errorOutput += chunk.toString()
  })
  void exited.then(() => ready.reject(new Error(`enrollment ended before it was ready: ${errorOutput}`)))
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { msg, port } = JSON.parse(line) as { msg?: string; port?: number }
    if (msg === 'ready' && port !== undefined) ready.resolve(port)
  })
  const end = async (signal: NodeJS.Signals) => {
    child.kill(signal)
    await exited
  }
  return {
    url: `http://127.0.0.1:${await ready.promise}`,
    stop: () => end('SIGTERM'),
    kill: () => end('SIGKILL'),
  }
}

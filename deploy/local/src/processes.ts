import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

/** A server started as a child process, in its own process group: Ctrl-C reaches only this process. */
export interface LocalServer {
  url: string
  /** SIGKILL, like a crash. */
  kill(): Promise<void>
  /** Restarts it on the same port with the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Below the ports of outgoing connections, so that none of those takes one first. Above 10080, the last port that fetch
 * rejects as a "bad port".
 */
const firstPort = 10_081
const portCount = 32_768 - firstPort
/** Concurrent processes start far apart, and each continues where it was. */
let nextPort = (process.pid * 101) % portCount

/** Returns a TCP port on loopback without listener. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstPort + nextPort
    nextPort = (nextPort + 1) % portCount
    if (!(await isListening(port))) return port
  }
}

export async function isListening(port: number, host = '127.0.0.1'): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host })
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
    socket.once('error', () => resolve(false))
  })
}

/** Polls until `check` is true. @throws after `timeoutMs`, or at once if `child` has exited, with its output */
export async function until(
  check: () => Promise<boolean>,
  what: string,
  child?: LocalChild,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  // Increasing pauses leave the processor to what is waited for.
  for (let pause = 15; !(await check()); pause = Math.min(pause * 1.5, 150)) {
    if (child && child.process.exitCode !== null) throw new Error(`${what} did not start:\n${child.output()}`)
    if (performance.now() > deadline)
      throw new Error(`${what} was not there after ${timeoutMs / 1000} s.\n${child?.output() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

export interface LocalChild {
  process: ChildProcess
  /** The end of its output. */
  output(): string
}

/** Running children: stopped when this process exits, even by an unexpected error. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  // On SIGINT PostgreSQL ends at once; on SIGTERM it waits for its clients.
  for (const child of running) child.kill('SIGINT')
})

export function launch(
  command: string,
  args: string[],
  options: { uid?: number; gid?: number; env?: NodeJS.ProcessEnv } = {},
): LocalChild {
  const child = spawn(command, args, {
    ...options,
    detached: process.platform !== 'win32',
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  child.once('exit', () => running.delete(child))
  let tail = ''
  const keep = (chunk: Buffer) => {
    tail = (tail + chunk.toString()).slice(-4000)
  }
  child.stdout.on('data', keep)
  child.stderr.on('data', keep)
  // A missing command is reported by `until`, through the exit code.
  child.on('error', (error) => keep(Buffer.from(error.message)))
  return { process: child, output: () => tail }
}

export async function end(child: LocalChild, signal: NodeJS.Signals): Promise<void> {
  if (child.process.exitCode !== null || child.process.signalCode !== null) return
  const exited = once(child.process, 'exit')
  child.process.kill(signal)
  const killTimer = setTimeout(() => child.process.kill('SIGKILL'), 10_000)
  await exited
  clearTimeout(killTimer)
}

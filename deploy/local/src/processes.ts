import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'

/** A server that was started as a child process, in a process group of its own: Ctrl-C reaches us alone. */
export interface LocalServer {
  url: string
  /** SIGKILL, as a crash would. */
  kill(): Promise<void>
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>
  stop(): Promise<void>
}

/**
 * Below the ports that systems give to outgoing connections: none of those takes one before its server does.
 * Above 10080, the last one that fetch refuses as a "bad port".
 */
const firstPort = 10_081
const portCount = 32_768 - firstPort
/** Processes that look at the same time begin far from each other, and each goes on from where it was. */
let nextPort = (process.pid * 101) % portCount

/** A TCP port on loopback that nobody listens on right now. */
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

/** Polls until `check` holds. @throws after `timeoutMs`, or at once when `child` has exited, with what it printed. */
export async function until(
  check: () => Promise<boolean>,
  what: string,
  child?: LocalChild,
  timeoutMs = 60_000,
): Promise<void> {
  const deadline = performance.now() + timeoutMs
  // Asking ever more slowly leaves the processor to what is waited for.
  for (let pause = 15; !(await check()); pause = Math.min(pause * 1.5, 150)) {
    if (child && child.process.exitCode !== null) throw new Error(`${what} did not start:\n${child.output()}`)
    if (performance.now() > deadline)
      throw new Error(`${what} was not there after ${timeoutMs / 1000} s.\n${child?.output() ?? ''}`)
    await new Promise((resolve) => setTimeout(resolve, pause))
  }
}

export interface LocalChild {
  process: ChildProcess
  /** The last lines that it printed. */
  output(): string
}

/** What was started here and has not ended: it goes when this process does, even by an error that nobody expected. */
const running = new Set<ChildProcess>()
process.on('exit', () => {
  // PostgreSQL ends at once on this one, and waits for its clients on a SIGTERM.
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
  // A command that does not exist is told by `until`, through the exit code.
  child.on('error', (error) => keep(Buffer.from(error.message)))
  return { process: child, output: () => tail }
}

export async function end(child: LocalChild, signal: NodeJS.Signals): Promise<void> {
  if (child.process.exitCode !== null || child.process.signalCode !== null) return
  const exited = once(child.process, 'exit')
  child.process.kill(signal)
  const impatient = setTimeout(() => child.process.kill('SIGKILL'), 10_000)
  await exited
  clearTimeout(impatient)
}

import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { promisify } from 'node:util'
import { serverImage } from './images.ts'
import { end, isListening, launch, until, type LocalChild, type LocalServer } from './processes.ts'

const run = promisify(execFile)

const howToInstall = () => `NATS is missing. Install nats-server (2.9 or newer) and start again:
  macOS            brew install nats-server
  Debian, Ubuntu   sudo apt-get install nats-server
  Windows          scoop install main/nats-server   or   choco install nats-server
  anywhere         docker run -p 4222:4222 ${serverImage('nats')} -js   and set NATS_URL=nats://127.0.0.1:4222`

async function works(command: string, args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  )
}

let found: Promise<string> | undefined

/** Finds nats-server, installing it on Debian as root. @throws an error with install instructions */
export function findNatsServer(): Promise<string> {
  found ??= (async () => {
    if (await works('nats-server', ['--version'])) return 'nats-server'
    const debian = await access('/etc/debian_version').then(
      () => true,
      () => false,
    )
    if (debian && process.getuid?.() === 0) {
      process.stderr.write('Installing nats-server …\n')
      const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
      await run('apt-get', ['update', '-qq'], { env }).catch(() => {})
      await run('apt-get', ['install', '-y', '-qq', 'nats-server'], { env, maxBuffer: 1 << 26 }).catch(() => {})
      // Debian's package starts its own server on the standard port; ours has its own data and settings.
      await run('systemctl', ['disable', '--now', 'nats-server']).catch(() => {})
      if (await works('nats-server', ['--version'])) return 'nats-server'
    }
    throw new Error(howToInstall())
  })()
  return found
}

async function natsCommand(dataDir: string, port: number): Promise<[string, string[]]> {
  const args = ['-js', '-sd', dataDir, '-a', '127.0.0.1', '-p', String(port)]
  try {
    return [await findNatsServer(), args]
  } catch (error) {
    if (!(await works('docker', ['info']))) throw error
    const container = ['run', '--rm', '--network', 'host', '-v', `${dataDir}:/data`, serverImage('nats')]
    return ['docker', [...container, '-js', '-sd', '/data', '-a', '127.0.0.1', '-p', String(port)]]
  }
}

/** Starts a NATS server with JetStream on loopback, its data in `dataDir`. */
export async function startNats(options: { dataDir: string; port: number }): Promise<LocalServer> {
  await mkdir(options.dataDir, { recursive: true })
  const [command, args] = await natsCommand(options.dataDir, options.port)
  let child: LocalChild
  async function start() {
    child = launch(command, args)
    await until(() => isListening(options.port), 'NATS', child)
  }
  await start()
  return {
    url: `nats://127.0.0.1:${options.port}`,
    restart: start,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  }
}

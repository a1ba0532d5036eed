import { execFile } from 'node:child_process'
import { access, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { localNatsPassword } from '@robokids/runtime/config'
import { natsPasswordVariable, natsUsers } from './compose-nats-users.ts'
import { serverImage } from './images.ts'
import { end, isListening, launch, until, type LocalChild, type LocalServer } from './processes.ts'
import { root } from './settings.ts'

const run = promisify(execFile)

const howToInstall = () => `NATS is missing. Install nats-server (2.9 or newer) and start again:
  macOS            brew install nats-server
  Debian, Ubuntu   sudo apt-get install nats-server
  Windows          scoop install main/nats-server   or   choco install nats-server
  anywhere         run it elsewhere with deploy/nats/users.conf, as docker-compose.yml does, and set NATS_URL`

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

/** The folder with the users of the broker and their rights, and the script that starts it with them. */
export const natsFolder = join(root, 'deploy/nats')

/** Returns the environment of a server whose users all have the same password, quoted as `start.sh` would. */
const passwords = (password: string) =>
  Object.fromEntries(natsUsers.map((user) => [natsPasswordVariable(user), `"${password}"`]))

async function natsCommand(dataDir: string, port: number, variables: string[]): Promise<[string, string[]]> {
  const args = ['-js', '-a', '127.0.0.1', '-p', String(port)]
  try {
    return [await findNatsServer(), ['-c', join(natsFolder, 'users.conf'), '-sd', dataDir, ...args]]
  } catch (error) {
    if (!(await works('docker', ['info']))) throw error
    const folders = ['-v', `${dataDir}:/data`, '-v', `${natsFolder}:/etc/robokids:ro`]
    const env = variables.flatMap((variable) => ['-e', variable])
    const container = ['run', '--rm', '--network', 'host', ...folders, ...env, serverImage('nats')]
    return ['docker', [...container, '-c', '/etc/robokids/users.conf', '-sd', '/data', ...args]]
  }
}

export interface LocalNats extends LocalServer {
  /** What it has refused to its users so far, as it was logged. */
  refusals(): string[]
}

/**
 * Starts a NATS server with JetStream on loopback, its data in `dataDir`, and with the users of deploy/nats.
 * @param options.password of all users; default: the local one
 */
export async function startNats(options: { dataDir: string; port: number; password?: string }): Promise<LocalNats> {
  await mkdir(options.dataDir, { recursive: true })
  const env = passwords(options.password ?? localNatsPassword)
  const [command, args] = await natsCommand(options.dataDir, options.port, Object.keys(env))
  const refusals: string[] = []
  let child: LocalChild
  async function start() {
    child = launch(command, args, { env: { ...process.env, ...env } })
    child.process.stderr?.on('data', (chunk: Buffer) => {
      refusals.push(
        ...chunk
          .toString()
          .split('\n')
          .filter((line) => line.includes(' Violation - ')),
      )
    })
    await until(() => isListening(options.port), 'NATS', child)
  }
  await start()
  return {
    url: `nats://127.0.0.1:${options.port}`,
    refusals: () => refusals,
    restart: start,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
  }
}

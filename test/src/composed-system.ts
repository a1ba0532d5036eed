import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { promisify } from 'node:util'
import { freePort } from '@robokids/local/processes'
import { root } from '@robokids/local/settings'

const run = promisify(execFile)
const folder = join(root, 'deploy/compose')

/** The reason why the system cannot be run in containers here; undefined if it can. */
export async function missingForContainers(): Promise<string | undefined> {
  if (process.env['TEST_INFRA'] !== 'containers') return 'only with TEST_INFRA=containers'
  return run('docker', ['info']).then(
    () => undefined,
    () => 'no container engine answers (docker info)',
  )
}

/** What deploy/compose/production.yml describes, in containers, with the simulator and the catchers of trial.yml. */
export interface ComposedSystem {
  siteUrl: string
  simulatorUrl: string
  mailboxUrl: string
  /** Runs docker-compose. @returns its output */
  compose(...args: string[]): Promise<string>
  docker(...args: string[]): Promise<string>
  /** The ids of a process's running containers. */
  copiesOf(process: string): Promise<string[]>
  /** Replaces all copies of these processes, one after the other. */
  rollOut(...processes: string[]): Promise<void>
  /** The environment of a program that uses the site. */
  environment: NodeJS.ProcessEnv
  stop(): Promise<void>
}

/** Builds the image, unless `APP_IMAGE` names one, and starts the system. @param copies the number of copies of each process */
export async function startComposedSystem(copies: number): Promise<ComposedSystem> {
  const scratch = await mkdtemp(join(tmpdir(), 'robokids-compose-'))
  const secrets = join(scratch, 'secrets')
  const [http, https, simulator, mailbox] = [await freePort(), await freePort(), await freePort(), await freePort()]
  const siteUrl = `https://localhost:${https}`
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    COMPOSE_FILE: 'production.yml:trial.yml',
    COMPOSE_PROJECT_NAME: `robokids-test-${https}`,
    SITE_URL: siteUrl,
    HTTP_PORT: String(http),
    HTTPS_PORT: String(https),
    STRIPE_SIMULATOR_PORT: String(simulator),
    MAILBOX_PORT: String(mailbox),
    SECRETS: secrets,
    // Networks of its own, beside those of another system on this machine.
    EDGE_SUBNET: `10.241.${https % 256}.0/24`,
    SERVICES_SUBNET: `10.242.${https % 256}.0/24`,
  }
  const isPlugin = await run('docker', ['compose', 'version']).then(
    () => true,
    () => false,
  )
  const exec = async (program: string, args: string[]) =>
    (await run(program, args, { cwd: folder, env, maxBuffer: 64 * 1024 * 1024 })).stdout
  const compose = (...args: string[]) => {
    const all = ['--env-file', 'trial.env', ...args]
    return isPlugin ? exec('docker', ['compose', ...all]) : exec('docker-compose', all)
  }
  const docker = (...args: string[]) => exec('docker', args)
  const copiesOf = async (name: string) => (await compose('ps', '-q', name)).split('\n').filter((id) => id !== '')

  await exec('sh', ['generate-secrets.sh', '--trial', secrets])
  // An image that is named is there already.
  if (process.env['APP_IMAGE'] === undefined) {
    const node = process.env['NODE_IMAGE']
    const buildArguments = node === undefined ? [] : ['--build-arg', `NODE_IMAGE=${node}`]
    const file = join(root, 'deploy/Dockerfile')
    // It reaches the package registry as this machine does.
    await docker('build', '--network', 'host', '-t', 'robokids-learning', '-f', file, ...buildArguments, root)
  }
  await compose('build', 'proxy', 'nats')
  const stop = async () => {
    await compose('down', '--volumes', '--timeout', '1')
    await rm(scratch, { recursive: true, force: true })
  }
  try {
    const scaled = ['identity', 'enrollment', 'billing', 'notifications', 'bff']
    await compose('up', '-d', ...scaled.flatMap((name) => ['--scale', `${name}=${copies}`]))
    const [proxy = ''] = await copiesOf('proxy')
    const authority = join(scratch, 'root.crt')
    const certificate = '/data/caddy/pki/authorities/local/root.crt'
    for (let tries = 0; ; tries += 1) {
      // Caddy makes it when it starts.
      const content = await docker('exec', proxy, 'cat', certificate).catch(() => '')
      if (content !== '') {
        setDefaultCACertificates([...getCACertificates('default'), content])
        break
      }
      if (tries === 50) throw new Error(await docker('logs', proxy))
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
    await docker('cp', `${proxy}:${certificate}`, authority)
    return {
      siteUrl,
      simulatorUrl: `http://localhost:${simulator}`,
      mailboxUrl: `http://localhost:${mailbox}`,
      compose,
      docker,
      copiesOf,
      async rollOut(...processes) {
        await exec('bash', ['roll-out.sh', 'trial.env', ...processes])
      },
      environment: {
        ...env,
        SITE_URL: siteUrl,
        STRIPE_SIMULATOR_URL: `http://localhost:${simulator}`,
        MAILBOX_URL: `http://localhost:${mailbox}`,
        NODE_EXTRA_CA_CERTS: authority,
      },
      stop,
    }
  } catch (error) {
    process.stderr.write(await compose('logs', '--tail', '20').catch(() => ''))
    await stop()
    throw error
  }
}

import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { serverImage } from '@robokids/local/images'
import { natsPasswordVariable, natsUsers } from '@robokids/local/compose-nats-users'
import { natsFolder, startNats, type LocalNats } from '@robokids/local/nats'
import { startPostgres } from '@robokids/local/postgres'
import { freePort, isListening, until, type LocalServer } from '@robokids/local/processes'
import { localNatsPassword } from '@robokids/runtime/config'
import { GenericContainer, getContainerRuntimeClient, Wait, type WaitStrategy } from 'testcontainers'

/** A server under a test's full control. */
export interface TestServer extends LocalServer {
  /** Restarts a killed server on the same port without its data, as after losing a disk. */
  restartEmpty(): Promise<void>
}

/**
 * `TEST_INFRA=containers` runs PostgreSQL and NATS in containers, otherwise as plain processes. The suites are the
 * same.
 */
export const inContainers = process.env['TEST_INFRA'] === 'containers'

async function scratchDir(name: string): Promise<string> {
  return mkdtemp(join(tmpdir(), `robokids-${name}-`))
}

async function localServer<Server extends LocalServer>(
  name: string,
  start: (dataDir: string, port: number) => Promise<Server>,
  /** Called after each start. */
  started: (server: Server) => void = () => {},
): Promise<TestServer> {
  const dataDir = await scratchDir(name)
  const port = await freePort()
  let server = await start(dataDir, port)
  started(server)
  const forget = () => rm(dataDir, { recursive: true, force: true })
  return {
    url: server.url,
    kill: () => server.kill(),
    restart: () => server.restart(),
    async restartEmpty() {
      await forget()
      await mkdir(dataDir)
      server = await start(dataDir, port)
      started(server)
    },
    async stop() {
      await server.stop()
      await forget()
    },
  }
}

/** A container on a fixed host port, so that it can be killed and restarted at the same address with its data. */
async function container(
  image: string,
  command: string[],
  inner: number,
  env: Record<string, string>,
  wait: WaitStrategy,
  url: (port: number) => string,
  { entrypoint, files }: { entrypoint?: string[]; files?: { source: string; target: string } } = {},
): Promise<TestServer> {
  const port = await freePort()
  const start = () => {
    const prepared = new GenericContainer(image)
    if (entrypoint) prepared.withEntrypoint(entrypoint)
    if (files) prepared.withCopyDirectoriesToContainer([files])
    return prepared
      .withCommand(command)
      .withEnvironment(env)
      .withExposedPorts({ container: inner, host: port })
      .withWaitStrategy(wait)
      .withAutoRemove(false)
      .start()
  }
  let started = await start()
  const engine = await getContainerRuntimeClient()
  return {
    url: url(port),
    async kill() {
      await engine.container.getById(started.getId()).kill()
    },
    async restart() {
      await engine.container.getById(started.getId()).start()
      await until(() => isListening(port), image)
    },
    async restartEmpty() {
      await started.stop({ remove: true })
      started = await start()
    },
    async stop() {
      await started.stop({ remove: true })
    },
  }
}

/**
 * Starts a PostgreSQL server: one for the test run, in which each suite creates databases, or a test's own.
 * @param durable keeps committed data when killed, which is slower
 */
export async function testPostgres({ durable = false } = {}): Promise<TestServer> {
  if (!inContainers)
    return localServer('postgres', (dataDir, port) => startPostgres({ dataDir, port, scratch: !durable }))
  const env = { POSTGRES_HOST_AUTH_METHOD: 'trust', POSTGRES_PASSWORD: 'test' }
  const command = ['-c', 'max_connections=300', '-c', `fsync=${durable ? 'on' : 'off'}`]
  const wait = Wait.forLogMessage(/database system is ready to accept connections/, 1)
  return container(
    serverImage('postgres'),
    command,
    5432,
    env,
    wait,
    (port) => `postgres://postgres:test@127.0.0.1:${port}`,
  )
}

/** A NATS server under a test's full control. */
export interface TestNats extends TestServer {
  /** The password of all users. */
  password: string
  /** What it has refused to its users so far; in a container, nothing is told. */
  refusals(): string[]
}

/** Lets a suite fail in which a process lacked a right at the broker. */
export function throwIfRefused(nats: TestNats): void {
  const refusals = nats.refusals()
  if (refusals.length > 0)
    throw new Error(`The broker refused what deploy/nats/users.conf does not allow:\n${refusals.join('\n')}`)
}

/**
 * Starts a NATS server for one suite, with the users and rights of deploy/nats: stream names are fixed, so suites cannot share
 * one.
 */
export async function testNats(password = localNatsPassword): Promise<TestNats> {
  if (!inContainers) {
    const servers: LocalNats[] = []
    const start = (dataDir: string, port: number) => startNats({ dataDir, port, password })
    const server = await localServer('nats', start, (started) => servers.push(started))
    return { ...server, password, refusals: () => servers.flatMap((started) => started.refusals()) }
  }
  const wait = Wait.forListeningPorts()
  const env = Object.fromEntries(natsUsers.map((user) => [natsPasswordVariable(user), password]))
  const url = (port: number) => `nats://127.0.0.1:${port}`
  const files = { source: natsFolder, target: '/etc/robokids' }
  const command = ['/etc/robokids/start.sh', '-js', '-sd', '/data']
  const server = await container(serverImage('nats'), command, 4222, env, wait, url, { entrypoint: ['sh'], files })
  return { ...server, password, refusals: () => [] }
}

import { parseArgs } from 'node:util'
import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { hash, verify } from '@node-rs/argon2'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import { beginProof, formatTimestamp } from '@robokids/runtime/srp'
import { startSystem } from '@robokids/test/system'
import { createSigner, createVerifier } from 'fast-jwt'
import { mkdtemp, rm } from 'node:fs/promises'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { Pool } from 'undici'
import { alternate, closedLoop, printResults, printSurroundings, type Phase } from './measure.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const rounds = values.quick ? 1 : 5
const part = values.quick ? 0.1 : 1
/** As many as hash at once in the service, and a few that wait. */
const workers = 10
const password = 'Robot-2030!'
const clientId = 'robokidsapp'
const poolName = 'RoboKids'

const dataDir = await mkdtemp(join(tmpdir(), 'robokids-bench-'))
const server = await startPostgres({ dataDir, port: await freePort() })
const unlimited = '1000000000'
const system = await startSystem(
  {
    all: { LOG_LEVEL: 'error' },
    identity: { ADDRESS_ATTEMPTS_A_MINUTE: unlimited, ADDRESS_REQUESTS_AN_HOUR: unlimited },
    bff: { RATE_LIMIT_READS: unlimited, RATE_LIMIT_WRITES: unlimited },
  },
  server.url,
)
const desk = new Pool(system.processes.identity.url, { connections: workers })
const door = new Pool(system.siteUrl, { connections: workers })

async function call<Answer>(operation: string, input: unknown): Promise<Answer> {
  const answer = await desk.request({
    method: 'POST',
    path: '/',
    headers: {
      'content-type': 'application/x-amz-json-1.1',
      'x-amz-target': `AWSCognitoIdentityProviderService.${operation}`,
    },
    body: JSON.stringify(input),
  })
  const body = await answer.body.json()
  if (answer.statusCode !== 200) throw new Error(`${operation} was answered ${JSON.stringify(body)}`)
  return body as Answer
}

interface Challenge {
  Session: string
  ChallengeParameters: Record<string, string>
}

async function byPassword(username: string): Promise<void> {
  const AuthParameters = { USERNAME: username, PASSWORD: password }
  await call('InitiateAuth', { ClientId: clientId, AuthFlow: 'USER_PASSWORD_AUTH', AuthParameters })
}

async function bySrp(username: string): Promise<void> {
  const proof = beginProof()
  const AuthParameters = { USERNAME: username, SRP_A: proof.A }
  const { ChallengeParameters: asked } = await call<Challenge>('InitiateAuth', {
    ClientId: clientId,
    AuthFlow: 'USER_SRP_AUTH',
    AuthParameters,
  })
  const { SALT: salt = '', SRP_B: B = '', SECRET_BLOCK: block = '', USER_ID_FOR_SRP: user = '' } = asked
  const timestamp = formatTimestamp(Temporal.Now.instant())
  const claim = { group: poolName, user, secretBlock: Buffer.from(block, 'base64'), timestamp }
  await call('RespondToAuthChallenge', {
    ClientId: clientId,
    ChallengeName: 'PASSWORD_VERIFIER',
    ChallengeResponses: {
      USERNAME: user,
      PASSWORD_CLAIM_SECRET_BLOCK: block,
      PASSWORD_CLAIM_SIGNATURE: proof.prove({ salt, B }, password, claim).toString('base64'),
      TIMESTAMP: timestamp,
    },
  })
}

try {
  // A person for each worker: sign-ins of one account wait for its row.
  const people = await Promise.all(
    Array.from({ length: workers }, async () => {
      const username = `user_${randomUUID()}`
      await call('SignUp', { ClientId: clientId, Username: username, Password: password })
      return username
    }),
  )
  await system.sql('identity')`update users set status = 'CONFIRMED'`
  const person = (worker: number) => people[worker] ?? ''

  const stored = await hash(password, { memoryCost: 19_456, timeCost: 2, parallelism: 1 })
  const signIns: Phase[] = [
    {
      name: 'argon2id alone',
      peer: 'argon2id alone',
      run: () => closedLoop(availableParallelism(), 400 * part, async () => void (await verify(stored, password))),
    },
    {
      name: 'sign-in by password',
      peer: 'argon2id alone',
      run: () => closedLoop(workers, 400 * part, (worker) => byPassword(person(worker))),
    },
    {
      name: 'sign-in by SRP',
      peer: 'argon2id alone',
      run: () => closedLoop(workers, 400 * part, (worker) => bySrp(person(worker))),
    },
  ]

  // One session of the site for each worker, as its cookie.
  const cookies = await Promise.all(
    people.map(async (email) => {
      const answer = await door.request({
        method: 'POST',
        path: '/api/auth/sign-in',
        headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
        body: JSON.stringify({ email, password }),
      })
      await answer.body.dump()
      return [answer.headers['set-cookie'] ?? []]
        .flat()
        .map((line) => line.split(';')[0])
        .join('; ')
    }),
  )
  async function askSession(cookie: string): Promise<void> {
    const answer = await door.request({ method: 'GET', path: '/api/auth/session', headers: { cookie } })
    const { user } = (await answer.body.json()) as { user: unknown }
    if (user === null) throw new Error('The session was not known.')
  }
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = { type: 'spki', format: 'pem' } as const
  const token = createSigner({ key: privateKey.export({ type: 'pkcs8', format: 'pem' }), algorithm: 'RS256' })({
    sub: randomUUID(),
    username: person(0),
    token_use: 'access',
    client_id: clientId,
  })
  const bare = createVerifier({ key: publicKey.export(pem), algorithms: ['RS256'] })
  const cached = createVerifier({ key: publicKey.export(pem), algorithms: ['RS256'], cache: true })
  const verifications: Phase[] = [
    {
      name: 'fast-jwt alone',
      peer: 'fast-jwt alone',
      run: () => closedLoop(1, 20_000 * part, async () => void bare(token)),
    },
    {
      name: 'fast-jwt with a cache',
      peer: 'fast-jwt alone',
      run: () => closedLoop(1, 20_000 * part, async () => void cached(token)),
    },
    {
      name: 'GET /healthz',
      peer: 'fast-jwt alone',
      run: () =>
        closedLoop(workers, 5_000 * part, async () => {
          await (await door.request({ method: 'GET', path: '/healthz' })).body.dump()
        }),
    },
    {
      name: 'GET /api/auth/session',
      peer: 'fast-jwt alone',
      run: () => closedLoop(workers, 5_000 * part, (worker) => askSession(cookies[worker] ?? '')),
    },
  ]

  printSurroundings('argon2id at 19 MiB, 2 passes')
  const settled = () => Promise.resolve()
  printResults(`sign-ins, ${workers} at a time`, signIns, await alternate(signIns, rounds, settled))
  printResults('sessions', verifications, await alternate(verifications, rounds, settled))
} finally {
  await desk.close()
  await door.close()
  await system.stop()
  await server.stop()
  await rm(dataDir, { recursive: true, force: true })
}

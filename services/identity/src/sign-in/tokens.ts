import { createHash, generateKeyPair, randomBytes, randomUUID, createPublicKey } from 'node:crypto'
import { promisify } from 'node:util'
import fastifyJwt from '@fastify/jwt'
import type { Database, Transaction } from '@robokids/runtime/db'
import { DomainError } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { and, desc, eq, inArray, sql } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { userDisabled, IdentityError } from '../protocol/errors.ts'
import { findClient, type Client, type Pool } from '../pools/pools.ts'
import { groupMembers, signIns, signingKeys, users, type User } from '../schema.ts'

declare module '@fastify/jwt' {
  interface FastifyJWT {
    payload: Record<string, unknown>
    user: Record<string, unknown>
  }
}

const makeKeyPair = promisify(generateKeyPair)
export const keyPurpose = (kid: string) => `signing-key:${kid}`

interface SigningKey {
  kid: string
  privateKey: string
}

/** Signs and checks tokens. */
export interface Tokens {
  /** The public keys of a pool, as a JSON Web Key Set. */
  keySet(pool: Pool): Promise<object>
  /** Issues tokens of a sign-in, without a refresh token. */
  issue(tx: Transaction, signIn: SignIn, user: User, client: Client): Promise<IssuedTokens>
  /**
   * Returns the bearer of an access token.
   * @throws IdentityError NotAuthorizedException for a token that is forged, expired, revoked, of another pool, or no
   * access token
   */
  authenticate(accessToken: string): Promise<Bearer>
}

export type SignIn = typeof signIns.$inferSelect

export interface IssuedTokens {
  AccessToken: string
  IdToken: string
  ExpiresIn: number
  TokenType: 'Bearer'
}

/** The holder of an access token. */
export interface Bearer {
  user: User
  client: Client
  signIn: SignIn
}

/** The maximum that client settings allow. */
const maxTokenSeconds = 86_400
/** A new key is published this long before it signs, so that cached key sets have it by then. */
const publishedAheadSeconds = 3_600

export const hashToken = (token: string) => createHash('sha256').update(token).digest('base64url')

const keyFormat = {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
} as const

async function addKey(tx: Transaction | Database, poolId: string, { config, clock }: Context<Config>): Promise<void> {
  const pair = await makeKeyPair('rsa', keyFormat)
  const kid = randomBytes(24).toString('base64url')
  const sealedPrivateKey = config.SEALING_KEYS.seal(pair.privateKey, keyPurpose(kid))
  await tx
    .insert(signingKeys)
    .values({ kid, poolId, sealedPrivateKey, publicKey: pair.publicKey, createdAt: clock.now() })
}

/** Adds a new signing key to each pool whose current one is old, and deletes keys whose last token has expired. */
export async function rotateKeys(context: Context<Config>, signal: AbortSignal): Promise<void> {
  const { db, clock, config } = context
  const now = clock.now()
  const old = now.subtract({ seconds: Math.round(config.SIGNING_KEY_DAYS * 86_400) })
  // The previous key signed until the newest took over; its tokens expire one maximum token lifetime later.
  const dead = now.subtract({ seconds: publishedAheadSeconds + maxTokenSeconds })
  const rows = await db.select().from(signingKeys).orderBy(desc(signingKeys.createdAt))
  for (const [poolId, [newest, ...older]] of Map.groupBy(rows, (row) => row.poolId)) {
    if (signal.aborted) return
    if (!newest) continue
    if (Temporal.Instant.compare(newest.createdAt, old) < 0) {
      await addKey(db, poolId, context)
    } else if (older.length > 0 && Temporal.Instant.compare(newest.createdAt, dead) < 0) {
      await db.delete(signingKeys).where(
        inArray(
          signingKeys.kid,
          older.map(({ kid }) => kid),
        ),
      )
    }
  }
}

/** A signing key, for administrators. */
interface ListedKey {
  kid: string
  poolId: string
  createdAt: string
  /** Whether it signs new tokens now. */
  signs: boolean
}

/** The key that signs: the newest that is published long enough, of one pool's keys, newest first. */
function signingKeyOf<Key extends { createdAt: Temporal.Instant }>(
  keys: Key[],
  now: Temporal.Instant,
): Key | undefined {
  const published = now.subtract({ seconds: publishedAheadSeconds })
  return keys.find(({ createdAt }) => Temporal.Instant.compare(createdAt, published) <= 0) ?? keys.at(-1)
}

/** Returns all signing keys, newest first. */
export async function listKeys({ db, clock }: Context<Config>): Promise<ListedKey[]> {
  const rows = await db.select().from(signingKeys).orderBy(desc(signingKeys.createdAt))
  const current = [...Map.groupBy(rows, (row) => row.poolId).values()].map((keys) => signingKeyOf(keys, clock.now()))
  return rows.map((row) => ({
    kid: row.kid,
    poolId: row.poolId,
    createdAt: row.createdAt.toString(),
    signs: current.includes(row),
  }))
}

/** Adds a new key to each pool that has one, before its time: it signs once it is published long enough. */
export async function replaceKeys(context: Context<Config>): Promise<ListedKey[]> {
  const pools = await context.db.selectDistinct({ poolId: signingKeys.poolId }).from(signingKeys)
  for (const { poolId } of pools) await addKey(context.db, poolId, context)
  return listKeys(context)
}

/**
 * Deletes a key that has leaked: its tokens are rejected from now on. If it was the last one of its pool, the next sign-in
 * creates another.
 * @throws DomainError `signing_key_not_found`
 */
export async function withdrawKey(context: Context<Config>, kid: string): Promise<ListedKey[]> {
  const deleted = await context.db
    .delete(signingKeys)
    .where(eq(signingKeys.kid, kid))
    .returning({ kid: signingKeys.kid })
  if (deleted.length === 0) throw new DomainError('signing_key_not_found', 'There is no signing key with this id.')
  return listKeys(context)
}

const seconds = (instant: Temporal.Instant) => Math.floor(instant.epochMilliseconds / 1000)
const invalidToken = () => new IdentityError('NotAuthorizedException', 'Invalid Access Token')

export async function startTokens(http: Http, context: Context<Config>): Promise<Tokens> {
  const { db, config, clock } = context
  await http.register(fastifyJwt, {
    // Each call passes its own key, which depends on pool and time.
    secret: () => Promise.reject(new Error('A token cannot be signed or verified without a key.')),
    sign: { algorithm: 'RS256' },
  })

  function open({ kid, sealedPrivateKey }: typeof signingKeys.$inferSelect): SigningKey {
    const privateKey = config.SEALING_KEYS.open(sealedPrivateKey, keyPurpose(kid))?.toString()
    if (privateKey === undefined) throw new Error(`Signing key ${kid} is sealed under an unknown key.`)
    return { kid, privateKey }
  }

  /** The key id in a token's header. */
  function kidOf(token: string): string {
    try {
      return http.jwt.decode<{ header: { kid?: unknown } }>(token, { complete: true })?.header.kid?.toString() ?? ''
    } catch {
      return ''
    }
  }

  /** Returns a pool's keys, newest first. The first key is created on demand. */
  async function keysOf(tx: Transaction | Database, poolId: string): Promise<(typeof signingKeys.$inferSelect)[]> {
    const find = (within: Transaction | Database) =>
      within.select().from(signingKeys).where(eq(signingKeys.poolId, poolId)).orderBy(desc(signingKeys.createdAt))
    const rows = await find(tx)
    if (rows.length > 0) return rows
    return tx.transaction(async (inner) => {
      await inner.execute(sql`select pg_advisory_xact_lock(hashtext(${`signing-key:${poolId}`}))`)
      if ((await find(inner)).length === 0) await addKey(inner, poolId, context)
      return find(inner)
    })
  }

  async function currentKey(tx: Transaction, poolId: string): Promise<SigningKey> {
    const rows = await keysOf(tx, poolId)
    const row = signingKeyOf(rows, clock.now())
    if (!row) throw new Error(`Pool ${poolId} has no signing key.`)
    return open(row)
  }

  const issuer = (poolId: string) => `${config.ISSUER_URL}/${poolId}`

  return {
    async keySet(pool) {
      const rows = await keysOf(db, pool.id)
      return {
        keys: rows.map(({ kid, publicKey }) => ({
          ...createPublicKey(publicKey).export({ format: 'jwk' }),
          kid,
          alg: 'RS256',
          use: 'sig',
        })),
      }
    },

    async issue(tx, signIn, user, client) {
      const { kid, privateKey } = await currentKey(tx, user.poolId)
      const memberships = await tx
        .select({ name: groupMembers.name })
        .from(groupMembers)
        .where(eq(groupMembers.userId, user.id))
      const now = clock.now()
      const common = {
        sub: user.id,
        iss: issuer(user.poolId),
        origin_jti: signIn.id,
        event_id: randomUUID(),
        auth_time: seconds(signIn.signedInAt),
        iat: seconds(now),
        ...(memberships.length > 0 ? { 'cognito:groups': memberships.map(({ name }) => name) } : {}),
      }
      const { accessTokenSeconds, idTokenSeconds } = client.settings
      const sign = (claims: Record<string, unknown>) =>
        http.jwt.sign(claims, { key: privateKey, kid, algorithm: 'RS256' })
      return {
        AccessToken: sign({
          ...common,
          client_id: client.id,
          token_use: 'access',
          scope: 'aws.cognito.signin.user.admin',
          exp: common.iat + accessTokenSeconds,
          jti: randomUUID(),
          username: user.username,
        }),
        IdToken: sign({
          ...identityClaims(user.attributes),
          ...common,
          aud: client.id,
          'cognito:username': user.username,
          token_use: 'id',
          exp: common.iat + idTokenSeconds,
          jti: randomUUID(),
        }),
        ExpiresIn: accessTokenSeconds,
        TokenType: 'Bearer',
      }
    },

    async authenticate(accessToken) {
      // Read each time, so that a withdrawn (leaked) key stops working at once.
      const [key] = await db
        .select({ poolId: signingKeys.poolId, publicKey: signingKeys.publicKey })
        .from(signingKeys)
        .where(eq(signingKeys.kid, kidOf(accessToken)))
      if (!key) throw invalidToken()
      let claims: Record<string, unknown>
      try {
        claims = http.jwt.verify<Record<string, unknown>>(accessToken, {
          key: key.publicKey,
          algorithms: ['RS256'],
          clockTimestamp: clock.now().epochMilliseconds,
          cache: false,
        })
        // A key is valid only for its own pool.
        if (claims['iss'] !== issuer(key.poolId)) throw invalidToken()
      } catch (error) {
        if (error instanceof IdentityError) throw error
        const { code } = error as { code?: string }
        if (code === 'FST_JWT_AUTHORIZATION_TOKEN_EXPIRED' || code === 'FAST_JWT_EXPIRED') {
          throw new IdentityError('NotAuthorizedException', 'Access Token has expired')
        }
        throw invalidToken()
      }
      if (claims['token_use'] !== 'access') throw invalidToken()
      const [row] = await db
        .select()
        .from(signIns)
        .innerJoin(users, eq(users.id, signIns.userId))
        .where(and(eq(signIns.id, String(claims['origin_jti'])), eq(users.id, String(claims['sub']))))
      if (!row || row.sign_ins.endedAt !== null) {
        throw new IdentityError('NotAuthorizedException', 'Access Token has been revoked')
      }
      if (!row.users.enabled) throw userDisabled()
      const client = await findClient(row.sign_ins.clientId, context)
      return { user: row.users, signIn: row.sign_ins, client }
    },
  }
}

/** Attributes as ID token claims: flags as booleans, the address as the standard's object. */
function identityClaims(attributes: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(attributes).map(([name, value]) => {
      if (name === 'email_verified' || name === 'phone_number_verified') return [name, value === 'true']
      if (name === 'address') return [name, { formatted: value }]
      return [name, value]
    }),
  )
}

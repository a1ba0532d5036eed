import { createHmac } from 'node:crypto'
import type { Context } from '@robokids/runtime/service'
import type { Clock } from '@robokids/runtime/clock'
import { isSameSecret } from '@robokids/runtime/same-secret'
import type { Database } from '@robokids/runtime/db'
import { and, eq } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { IdentityError } from '../protocol/errors.ts'
import { clientSettingsSchema, poolSettingsSchema, type ClientSettings, type PoolSettings } from './pool-settings.ts'
import { clients, groups, pools } from '../schema.ts'

export interface Pool {
  id: string
  settings: PoolSettings
  createdAt: Temporal.Instant
}

/** An app client, with its pool. */
export interface Client {
  id: string
  secret: string | null
  settings: ClientSettings
  pool: Pool
}

/** The part of a pool's id that SRP hashes. */
export function srpName(pool: Pool): string {
  return pool.id.slice(pool.id.indexOf('_') + 1)
}

export const secretPurpose = (clientId: string) => `client-secret:${clientId}`

export function sealClientSecret(clientId: string, secret: string, config: Config): string {
  return config.SEALING_KEYS.seal(secret, secretPurpose(clientId))
}

export const unknownPool = (id: string) =>
  new IdentityError('ResourceNotFoundException', `User pool ${id} does not exist.`)
export const unknownClient = (id: string) =>
  new IdentityError('ResourceNotFoundException', `User pool client ${id} does not exist.`)

/** Creates or updates the configured pools, clients and groups. */
export async function seedPools(db: Database, clock: Clock, config: Config): Promise<void> {
  const now = clock.now()
  for (const pool of config.POOLS_FILE.pools) {
    const { hostname, origin } = new URL(config.SITE_URL)
    const settings = pool.passkeysAtSite
      ? poolSettingsSchema.parse({ ...pool.settings, webAuthn: { relyingPartyId: hostname, origins: [origin] } })
      : pool.settings
    await db
      .insert(pools)
      .values({ id: pool.id, settings, createdAt: now, updatedAt: now })
      .onConflictDoUpdate({ target: pools.id, set: { settings, updatedAt: now } })
    for (const client of pool.clients) {
      const secret = client.secret ? config.CLIENT_SECRETS.get(client.id) : undefined
      if (client.secret && secret === undefined) throw new Error(`CLIENT_SECRETS has no secret for ${client.id}.`)
      const sealedSecret = secret === undefined ? null : sealClientSecret(client.id, secret, config)
      const { settings } = client
      await db
        .insert(clients)
        .values({ id: client.id, poolId: pool.id, sealedSecret, settings, createdAt: now, updatedAt: now })
        .onConflictDoUpdate({ target: clients.id, set: { sealedSecret, settings, updatedAt: now } })
    }
    for (const name of pool.groups) {
      await db.insert(groups).values({ poolId: pool.id, name, createdAt: now }).onConflictDoNothing()
    }
  }
}

const poolOf = ({ id, settings, createdAt }: typeof pools.$inferSelect): Pool => ({
  id,
  settings: poolSettingsSchema.parse(settings),
  createdAt,
})

/** @throws IdentityError ResourceNotFoundException */
export async function findPool(id: string, { db }: Context<Config>): Promise<Pool> {
  const [row] = await db.select().from(pools).where(eq(pools.id, id))
  if (!row) throw unknownPool(id)
  return poolOf(row)
}

/** @throws IdentityError ResourceNotFoundException */
export async function findClient(id: string, { db, config }: Context<Config>, poolId?: string): Promise<Client> {
  const [row] = await db
    .select()
    .from(clients)
    .innerJoin(pools, eq(pools.id, clients.poolId))
    .where(and(eq(clients.id, id), poolId === undefined ? undefined : eq(clients.poolId, poolId)))
  if (!row) throw unknownClient(id)
  const { sealedSecret, settings } = row.clients
  const secret = sealedSecret === null ? null : config.SEALING_KEYS.open(sealedSecret, secretPurpose(id))?.toString()
  if (secret === undefined) throw new Error(`The secret of client ${id} is sealed under an unknown key.`)
  return {
    id,
    secret,
    settings: clientSettingsSchema.parse(settings),
    pool: poolOf(row.pools),
  }
}

/** Returns the client of a user request after checking its secret hash. @throws IdentityError */
export async function clientOf(
  given: { ClientId: string; Username: string; SecretHash?: string | undefined },
  context: Context<Config>,
): Promise<Client> {
  const client = await findClient(given.ClientId, context)
  checkSecretHash(client, given.Username, given.SecretHash)
  return client
}

/**
 * Checks that the sender knows the client's secret: base64 of HMAC-SHA256(secret, username + client id).
 * @throws IdentityError NotAuthorizedException
 */
export function checkSecretHash(client: Client, name: string, secretHash: string | undefined): void {
  if (client.secret === null) return
  const expected = createHmac('sha256', client.secret).update(`${name}${client.id}`).digest()
  if (secretHash === undefined) {
    throw new IdentityError(
      'NotAuthorizedException',
      `Client ${client.id} is configured with secret but SECRET_HASH was not received`,
    )
  }
  if (!isSameSecret(Buffer.from(secretHash, 'base64'), expected)) {
    throw new IdentityError('NotAuthorizedException', `SecretHash does not match for the client: ${client.id}`)
  }
}

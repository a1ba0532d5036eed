import { instant } from '@robokids/runtime/db'
import {
  bigint,
  boolean,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { sql } from 'drizzle-orm'
import type { ClientSettings, MfaFactor, PoolSettings } from './pools/pool-settings.ts'

export const pools = pgTable('pools', {
  /** `us-west-1_RoboKids`; what follows the underscore is the pool's name in SRP. */
  id: text().primaryKey(),
  settings: jsonb().$type<PoolSettings>().notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

export const clients = pgTable('clients', {
  id: text().primaryKey(),
  poolId: text('pool_id')
    .notNull()
    .references(() => pools.id, { onDelete: 'cascade' }),
  /** Sealed; null for a public client. */
  sealedSecret: text('sealed_secret'),
  settings: jsonb().$type<ClientSettings>().notNull(),
  createdAt: instant('created_at').notNull(),
  updatedAt: instant('updated_at').notNull(),
})

/** The RSA keys that a pool's tokens are signed with: the newest signs, all are published until they are deleted. */
export const signingKeys = pgTable(
  'signing_keys',
  {
    kid: text().primaryKey(),
    poolId: text('pool_id')
      .notNull()
      .references(() => pools.id, { onDelete: 'cascade' }),
    /** PKCS #8, sealed. */
    sealedPrivateKey: text('sealed_private_key').notNull(),
    publicKey: text('public_key').notNull(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('signing_keys_pool').on(table.poolId, table.createdAt)],
)

type KeptAddresses = { email?: string; phone_number?: string }

const userStatuses = ['UNCONFIRMED', 'CONFIRMED', 'FORCE_CHANGE_PASSWORD', 'RESET_REQUIRED'] as const

export const users = pgTable(
  'users',
  {
    /** The `sub` of tokens. */
    id: uuid().primaryKey(),
    poolId: text('pool_id')
      .notNull()
      .references(() => pools.id, { onDelete: 'cascade' }),
    username: text().notNull(),
    status: text({ enum: userStatuses }).notNull(),
    enabled: boolean().notNull().default(true),
    /** Without `sub`; `email_verified` and `phone_number_verified` are 'true' or 'false'. */
    attributes: jsonb().$type<Record<string, string>>().notNull(),
    /** `emailKey` of the address, verified or not. */
    emailKey: text('email_key'),
    /** argon2id; null for an account without a password. */
    passwordHash: text('password_hash'),
    srpSalt: text('srp_salt'),
    /** Sealed: with it one could sign in, or guess passwords without argon2id's cost. */
    sealedSrpVerifier: text('sealed_srp_verifier'),
    /** A few bits of the password under a key that is not here: which of many accounts of an address it can be of. */
    passwordTag: text('password_tag'),
    /** When a temporary password ends. */
    passwordExpiresAt: instant('password_expires_at'),
    /** By what the code came that the password was reset with: until a sign-in by it succeeds, another that comes so is no second factor. */
    resetBy: text('reset_by', { enum: ['EMAIL', 'SMS'] }),
    /** Sealed; there once VerifySoftwareToken succeeded. */
    sealedTotpSecret: text('sealed_totp_secret'),
    /** The step of the last code that was taken: neither it nor an earlier one is taken again. */
    totpLastStep: integer('totp_last_step'),
    mfa: text().array().$type<MfaFactor[]>().notNull().default([]),
    preferredMfa: text('preferred_mfa').$type<MfaFactor>(),
    /** Verified addresses that no alias keeps, until their successors in `attributes` are verified. */
    keptAddresses: jsonb('kept_addresses').$type<KeptAddresses>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** The time of the newest event about it: the next one is of a later time, whichever process publishes it. */
    lastEventAt: instant('last_event_at'),
  },
  (table) => [
    unique('users_username').on(table.poolId, table.username),
    index('users_email').on(table.poolId, table.emailKey),
    index('users_unconfirmed')
      .on(table.createdAt)
      .where(sql`${table.status} = 'UNCONFIRMED'`),
  ],
)
export type User = typeof users.$inferSelect

/** Verified addresses that one account of a pool signs in by. */
export const aliases = pgTable(
  'aliases',
  {
    poolId: text('pool_id').notNull(),
    attribute: text({ enum: ['email', 'phone_number'] }).notNull(),
    /** `emailKey` of an address; a phone number as it is. */
    value: text().notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
  },
  (table) => [
    primaryKey({ columns: [table.poolId, table.attribute, table.value] }),
    uniqueIndex('aliases_user').on(table.userId, table.attribute),
  ],
)

const codePurposes = ['sign_up', 'password_reset', 'verify_email', 'verify_phone_number'] as const
export type StoredCodePurpose = (typeof codePurposes)[number]

/**
 * Codes that are outstanding for a purpose, or were a while ago, by the address that they go to: what becomes of one is the
 * same whether nobody, one account or several have that address. Codes of sign-in steps are in their step.
 */
export const codes = pgTable(
  'outstanding_codes',
  {
    /** The code follows from it, for who has the keys: it is nowhere at rest. */
    id: uuid().primaryKey(),
    poolId: text('pool_id').notNull(),
    purpose: text({ enum: codePurposes }).notNull(),
    /** As `codeSubject` writes it. */
    subject: text().notNull(),
    /** The version before kept one for each who asked. Now there is one, whoever asks. */
    askedFrom: text('asked_from').notNull(),
    /** What it was sent to: it verifies nothing else. Null where it was only pretended to be sent. */
    destination: text(),
    /** The version before counts tries by it. 0 once it was taken, or another of the address. */
    triesLeft: integer('tries_left').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    unique('outstanding_codes_asker').on(table.poolId, table.purpose, table.subject, table.askedFrom),
    index('outstanding_codes_expiry').on(table.expiresAt),
  ],
)

/** A sign-in between two steps. */
export const signInSteps = pgTable(
  'sign_in_steps',
  {
    /** SHA-256 of the session that the client holds. */
    sessionHash: text('session_hash').primaryKey(),
    poolId: text('pool_id').notNull(),
    clientId: text('client_id').notNull(),
    /** Null where the account does not exist and the client is not to know. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** The name that the client was told, or has given. */
    username: text().notNull(),
    challenge: text().notNull(),
    /** What the step has to remember, sealed JSON. */
    sealedState: text('sealed_state').notNull(),
    triesLeft: integer('tries_left').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('sign_in_steps_expiry').on(table.expiresAt)],
)

/** One sign-in: the family of its tokens. */
export const signIns = pgTable(
  'sign_ins',
  {
    /** `origin_jti` */
    id: uuid().primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    poolId: text('pool_id').notNull(),
    clientId: text('client_id').notNull(),
    deviceKey: text('device_key'),
    signedInAt: instant('signed_in_at').notNull(),
    /** Whether more was proven than a first factor: by a second one, a device that stands for it, or a passkey that is both. */
    secondFactor: boolean('second_factor').notNull().default(false),
    /** Revoked, signed out, or ended because a refresh token came again. */
    endedAt: instant('ended_at'),
    endReason: text('end_reason', {
      enum: ['revoked', 'signed_out', 'token_reused', 'password_changed', 'mfa_turned_on', 'disabled'],
    }),
  },
  (table) => [index('sign_ins_user').on(table.userId), index('sign_ins_device').on(table.deviceKey)],
)

export const refreshTokens = pgTable(
  'refresh_tokens',
  {
    /** SHA-256 of the token. */
    hash: text().primaryKey(),
    signInId: uuid('sign_in_id')
      .notNull()
      .references(() => signIns.id, { onDelete: 'cascade' }),
    expiresAt: instant('expires_at').notNull(),
    /** When another took its place. */
    replacedAt: instant('replaced_at'),
  },
  (table) => [index('refresh_tokens_sign_in').on(table.signInId)],
)

export const devices = pgTable(
  'devices',
  {
    key: text().primaryKey(),
    groupKey: text('group_key').notNull(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull().default(''),
    srpSalt: text('srp_salt'),
    /** Sealed; null until ConfirmDevice. */
    sealedSrpVerifier: text('sealed_srp_verifier'),
    remembered: boolean().notNull().default(false),
    lastAddress: text('last_address').notNull(),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    lastSignInAt: instant('last_sign_in_at').notNull(),
  },
  (table) => [index('devices_user').on(table.userId), index('devices_last_sign_in').on(table.lastSignInAt)],
)

export const passkeys = pgTable(
  'passkeys',
  {
    /** The credential's id, base64url. */
    id: text().primaryKey(),
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    relyingPartyId: text('relying_party_id').notNull(),
    /** COSE, base64url. */
    publicKey: text('public_key').notNull(),
    /** Of 32 bits without a sign: more than an `integer` holds. */
    counter: bigint({ mode: 'number' }).notNull(),
    transports: text().array().notNull(),
    attachment: text(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('passkeys_user').on(table.userId)],
)

/** What a signed-in person has begun and not ended: a passkey's challenge, an authenticator's secret. One of a kind each. */
export const mfaSetups = pgTable(
  'set_ups',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    kind: text({ enum: ['passkey', 'totp'] }).notNull(),
    sealedState: text('sealed_state').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.kind] })],
)

export const groups = pgTable(
  'groups',
  {
    poolId: text('pool_id')
      .notNull()
      .references(() => pools.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    description: text().notNull().default(''),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.poolId, table.name] })],
)

export const groupMembers = pgTable(
  'group_members',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    poolId: text('pool_id').notNull(),
    name: text().notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.name] })],
)

/** Counters of limits, each for what its key names. */
export const limits = pgTable(
  'limits',
  {
    key: text().primaryKey(),
    count: integer().notNull(),
    /** Since when it counts. */
    since: instant().notNull(),
    /** Before when nothing is let through. */
    waitUntil: instant('wait_until'),
    /** When the row means nothing any more. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('limits_expiry').on(table.expiresAt)],
)

/** Canonical names that were told of addresses that nobody has: each is one of such an address for as long as it is told. */
export const simulatedNames = pgTable(
  'simulated_names',
  {
    poolId: text('pool_id').notNull(),
    /** As `nameKey` writes it. */
    address: text().notNull(),
    username: text().notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.poolId, table.address] }),
    unique('simulated_names_username').on(table.poolId, table.username),
    index('simulated_names_expiry').on(table.expiresAt),
  ],
)

/** Addresses from which an account was signed in to: a flood from elsewhere does not lock them out. */
export const knownAddresses = pgTable(
  'known_addresses',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    address: text().notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
  },
  (table) => [primaryKey({ columns: [table.userId, table.address] })],
)

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
  /** `us-west-1_RoboKids`; the part after the underscore is the pool name in SRP. */
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

/** RSA keys of a pool's tokens: the newest signs, all are published until they are deleted. */
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
    /** Sealed: it would allow signing in, or guessing passwords without argon2id's cost. */
    sealedSrpVerifier: text('sealed_srp_verifier'),
    /**
     * A few bits of the password, keyed outside the database: which of several accounts of an address a password may
     * belong to.
     */
    passwordTag: text('password_tag'),
    /** When a temporary password expires. */
    passwordExpiresAt: instant('password_expires_at'),
    /**
     * The medium of the code that reset the password. Until a sign-in with the new password succeeds, a code by the
     * same medium is no second factor.
     */
    resetBy: text('reset_by', { enum: ['EMAIL', 'SMS'] }),
    /** Sealed; set when VerifySoftwareToken succeeds. */
    sealedTotpSecret: text('sealed_totp_secret'),
    /** The time step of the last accepted code: neither it nor an earlier one is accepted again. */
    totpLastStep: integer('totp_last_step'),
    mfa: text().array().$type<MfaFactor[]>().notNull().default([]),
    preferredMfa: text('preferred_mfa').$type<MfaFactor>(),
    /** Verified addresses without an alias row, kept until their successors in `attributes` are verified. */
    keptAddresses: jsonb('kept_addresses').$type<KeptAddresses>().notNull().default({}),
    createdAt: instant('created_at').notNull(),
    updatedAt: instant('updated_at').notNull(),
    /** The time of the account's latest event; the next one is later, whichever process publishes it. */
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

/** Verified addresses that sign in to one account of a pool. */
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
 * Outstanding and recently expired codes by the address that they were sent to: a code's life does not depend on how
 * many accounts have that address. Sign-in codes are stored in their step.
 */
export const codes = pgTable(
  'outstanding_codes',
  {
    /** The code is derived from it with MAC_KEYS and not stored anywhere. */
    id: uuid().primaryKey(),
    poolId: text('pool_id').notNull(),
    purpose: text({ enum: codePurposes }).notNull(),
    /** As `codeSubject` returns it. */
    subject: text().notNull(),
    /** The previous version stored one code per caller; now there is one for all callers. */
    askedFrom: text('asked_from').notNull(),
    /** The address that it was sent to, and verifies. Null if sending was simulated. */
    destination: text(),
    /** Used by the previous version. 0 once this code, or another of the address, was used. */
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
    /** SHA-256 of the client's session. */
    sessionHash: text('session_hash').primaryKey(),
    poolId: text('pool_id').notNull(),
    clientId: text('client_id').notNull(),
    /** Null if the account does not exist and the client must not know. */
    userId: uuid('user_id').references(() => users.id, { onDelete: 'cascade' }),
    /** The username that the client was told, or has given. */
    username: text().notNull(),
    challenge: text().notNull(),
    /** The step's state as sealed JSON. */
    sealedState: text('sealed_state').notNull(),
    triesLeft: integer('tries_left').notNull(),
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('sign_in_steps_expiry').on(table.expiresAt)],
)

/** One sign-in, with all tokens issued for it. */
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
    /** Whether a second factor was proven: its own, a trusted device, or a passkey with user verification. */
    secondFactor: boolean('second_factor').notNull().default(false),
    /** When it was revoked, signed out, or ended because a refresh token was reused. */
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
    /** When it was replaced by its successor. */
    replacedAt: instant('replaced_at'),
  },
  (table) => [index('refresh_tokens_sign_in').on(table.signInId), index('refresh_tokens_expiry').on(table.expiresAt)],
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
  (table) => [
    index('devices_user').on(table.userId),
    index('devices_last_sign_in').on(table.lastSignInAt),
    index('devices_unconfirmed')
      .on(table.createdAt)
      .where(sql`sealed_srp_verifier is null`),
  ],
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
    /** Unsigned 32 bits: more than an `integer` holds. */
    counter: bigint({ mode: 'number' }).notNull(),
    transports: text().array().notNull(),
    attachment: text(),
    createdAt: instant('created_at').notNull(),
  },
  (table) => [index('passkeys_user').on(table.userId)],
)

/** Unfinished MFA setups: a passkey's challenge or an authenticator's secret, at most one per user and kind. */
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

/** Counters of limits, by key. */
export const limits = pgTable(
  'limits',
  {
    key: text().primaryKey(),
    count: integer().notNull(),
    /** Start of the counting window. */
    since: instant().notNull(),
    /** Attempts before this time are rejected. */
    waitUntil: instant('wait_until'),
    /** When the row can be deleted. */
    expiresAt: instant('expires_at').notNull(),
  },
  (table) => [index('limits_expiry').on(table.expiresAt)],
)

/** Simulated canonical usernames of addresses without an account, so that an address always gets the same one. */
export const simulatedNames = pgTable(
  'simulated_names',
  {
    poolId: text('pool_id').notNull(),
    /** As `nameKey` returns it. */
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

/** Addresses from which an account was signed in to; a flood of attempts from elsewhere does not lock them out. */
export const knownAddresses = pgTable(
  'known_addresses',
  {
    userId: uuid('user_id')
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    address: text().notNull(),
    lastSeenAt: instant('last_seen_at').notNull(),
  },
  (table) => [
    primaryKey({ columns: [table.userId, table.address] }),
    index('known_addresses_seen').on(table.lastSeenAt),
  ],
)

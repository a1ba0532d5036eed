import { hash, verify } from '@node-rs/argon2'
import { passwordRules } from '@robokids/contracts/password'
import type { Context } from '@robokids/runtime/service'
import type { Config } from '../config.ts'
import { IdentityError } from '../protocol/errors.ts'
import { srpName, type Pool } from '../pools/pools.ts'
import type { Call } from '../protocol/protocol.ts'
import type { PoolSettings } from '../pools/pool-settings.ts'
import type { User } from '../schema.ts'
import { makeVerifier, parseHex } from '@robokids/runtime/srp'

/** Keyboards produce the same password in different Unicode forms, so one form is hashed. Nothing is trimmed. */
function normalizePassword(password: string): string {
  return password.normalize('NFC')
}

/** @throws IdentityError InvalidPasswordException naming each violated rule */
export function checkPolicy(password: string, policy: PoolSettings['passwordPolicy']): void {
  const length = [...password].length
  const broken = [
    length < policy.minimumLength && 'Password not long enough',
    length > 256 && 'Password too long',
    policy.requireUppercase && !passwordRules.capital(password) && 'Password must have uppercase characters',
    policy.requireNumbers && !passwordRules.digit(password) && 'Password must have numeric characters',
    policy.requireSymbols && !passwordRules.symbol(password) && 'Password must have symbol characters',
    policy.requireLowercase && !/[a-z]/.test(password) && 'Password must have lowercase characters',
  ].filter((rule) => rule !== false)
  if (broken.length > 0) {
    throw new IdentityError('InvalidPasswordException', `Password did not conform with policy: ${broken.join(' | ')}`)
  }
}

function parameters(config: Config) {
  return { memoryCost: config.ARGON2_MEMORY_KIB, timeCost: config.ARGON2_PASSES, parallelism: 1 }
}

export const verifierPurpose = (userId: string) => `srp-verifier:${userId}`

/** A new password, already hashed. */
export interface NewPassword {
  typed: string
  hash: string
}

/**
 * Hashes a new password, before the account is locked and a connection is held.
 * @throws IdentityError InvalidPasswordException, ServiceUnavailable
 */
export async function newPassword(
  typed: string,
  { settings }: Pool,
  { context: { config }, hashing }: Call,
): Promise<NewPassword> {
  checkPolicy(typed, settings.passwordPolicy)
  return { typed, hash: await hashing.hash(() => hash(normalizePassword(typed), parameters(config))) }
}

/** The columns stored for a password of the account `user.id` with its canonical username. */
export function storePassword(
  password: NewPassword,
  user: { id: string; username: string },
  pool: Pool,
  { config }: Context<Config>,
): Pick<User, 'passwordHash' | 'srpSalt' | 'sealedSrpVerifier' | 'passwordTag'> {
  // SRP uses the password exactly as typed: the client hashes it, so it cannot be normalized here.
  const { salt, value } = makeVerifier(srpName(pool), user.username, password.typed)
  return {
    passwordHash: password.hash,
    srpSalt: salt,
    sealedSrpVerifier: config.SEALING_KEYS.seal(value.toString(16), verifierPurpose(user.id)),
    passwordTag: passwordTags(normalizePassword(password.typed), user.id, config)[0] ?? null,
  }
}

/** Two bytes: enough to choose among accounts of one address, too little to help guess a password. */
function passwordTags(normal: string, userId: string, { MAC_KEYS }: Config): string[] {
  return MAC_KEYS.macs(`${userId}:${normal}`, 'password-tag').map((mac) => mac.subarray(0, 2).toString('hex'))
}

/** Whether a password may be the account's, without the cost of hashing. */
export function mayBePassword(
  password: string,
  user: Pick<User, 'id' | 'passwordTag'>,
  { config }: Context<Config>,
): boolean {
  return (
    user.passwordTag !== null && passwordTags(normalizePassword(password), user.id, config).includes(user.passwordTag)
  )
}

/** @returns undefined for an account without a password. */
export function openVerifier(user: User, { config }: Context<Config>): { salt: string; value: bigint } | undefined {
  if (user.srpSalt === null || user.sealedSrpVerifier === null) return undefined
  const opened = config.SEALING_KEYS.open(user.sealedSrpVerifier, verifierPurpose(user.id))?.toString()
  const value = opened === undefined ? undefined : parseHex(opened)
  if (value === undefined) throw new Error('An SRP verifier is sealed under an unknown key.')
  return { salt: user.srpSalt, value }
}

let dummyHash: Promise<string> | undefined

/**
 * Whether it is the account's password. Takes the same time if there is no account, or none with a password.
 * @throws IdentityError ServiceUnavailable
 */
export async function isPassword(
  password: string,
  user: User | undefined,
  { context: { config }, hashing }: Call,
): Promise<boolean> {
  const normal = normalizePassword(password)
  dummyHash ??= hash('nobody', parameters(config))
  const stored = user?.passwordHash ?? (await dummyHash)
  const matches = await hashing.hash(() => verify(stored, normal))
  return matches && user?.passwordHash !== null && user !== undefined
}

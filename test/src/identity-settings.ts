import { localSealingKeys } from '@robokids/runtime/seal'

/** What an identity service needs to start, by keys and secrets that are published. */
export const identityKeys = {
  SEALING_KEYS: localSealingKeys,
  MAC_KEYS: localSealingKeys,
  CODE_SEALING_KEYS: localSealingKeys,
  CLIENT_SECRETS: 'robokidsbff:local-client-secret',
}

/** Passwords cost next to nothing to hash. */
export const quickHashing = { ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1' }

/** What the BFF before such an identity service needs to start. */
export const bffKeys = {
  IDENTITY_CLIENT_SECRET: 'local-client-secret',
  SESSION_KEYS: localSealingKeys,
  PROOF_SECRET: 'local-proof-secret',
}

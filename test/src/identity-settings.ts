import { localSealingKeys } from '@robokids/runtime/seal'

/** Required settings of an identity service, with published development secrets. */
export const identityKeys = {
  SEALING_KEYS: localSealingKeys,
  MAC_KEYS: localSealingKeys,
  CODE_SEALING_KEYS: localSealingKeys,
  CLIENT_SECRETS: 'robokidsbff:local-client-secret',
}

/** Cheap password hashing. */
export const quickHashing = { ARGON2_MEMORY_KIB: '64', ARGON2_PASSES: '1' }

/** Required settings of a BFF for such an identity service. */
export const bffKeys = {
  IDENTITY_CLIENT_SECRET: 'local-client-secret',
  SESSION_KEYS: localSealingKeys,
  PROOF_SECRET: 'local-proof-secret',
}

import type { SealedColumn } from '@robokids/runtime/reseal'
import type { Config } from './config.ts'
import { deviceVerifierPurpose } from './factors/devices.ts'
import { verifierPurpose } from './factors/passwords.ts'
import { secretPurpose } from './pools/pools.ts'
import { setUpPurpose } from './factors/mfa-setups.ts'
import { statePurpose } from './sign-in/sign-in-steps.ts'
import { keyPurpose } from './sign-in/tokens.ts'
import { totpPurpose } from './factors/totp.ts'

const keys = ({ SEALING_KEYS }: Config) => SEALING_KEYS

/** All sealed columns of the database. */
export const sealedColumns: SealedColumn<Config>[] = [
  { table: 'clients', column: 'sealed_secret', key: 'id', purpose: secretPurpose, keys },
  { table: 'signing_keys', column: 'sealed_private_key', key: 'kid', purpose: keyPurpose, keys },
  { table: 'users', column: 'sealed_srp_verifier', key: 'id', purpose: verifierPurpose, keys },
  { table: 'users', column: 'sealed_totp_secret', key: 'id', purpose: totpPurpose, keys },
  { table: 'devices', column: 'sealed_srp_verifier', key: 'key', purpose: deviceVerifierPurpose, keys },
  { table: 'sign_in_steps', column: 'sealed_state', key: 'session_hash', purpose: statePurpose, keys },
  {
    table: 'set_ups',
    column: 'sealed_state',
    key: 'user_id',
    of: "kind || ':' || user_id",
    purpose: setUpPurpose,
    keys,
  },
]

import type { TableLives } from '@robokids/runtime/sweep'

/** The end of an account deletes them. */
const ofAccount = { until: 'the account is deleted' }
const expired = { days: 0, since: 'expires_at' }

/** How long the rows of each table are kept. */
export const tables: TableLives = {
  pools: { kept: 'Configuration' },
  clients: { kept: 'Configuration' },
  groups: { kept: 'Configuration' },
  signing_keys: { until: 'a day after the next key has taken over (the job rotate-keys)' },
  users: { until: 'the account is deleted, or 30 days after a sign-up that nobody confirmed (the job clean-up)' },
  aliases: ofAccount,
  group_members: ofAccount,
  passkeys: ofAccount,
  codes: { ...expired, why: 'Of an older version, and not read by this one' },
  outstanding_codes: { days: 30, since: 'expires_at', why: 'A used or expired code is reported as such' },
  sign_in_steps: { ...expired, why: 'An expired step has no effect' },
  set_ups: { ...expired, why: 'An expired setup of a factor has no effect' },
  limits: { ...expired, why: 'A window that is over counts nothing' },
  simulated_names: { ...expired, why: 'An address without an account gets another name then' },
  refresh_tokens: { ...expired, why: 'An expired token has no effect' },
  sign_ins: {
    // The greatest lifetime of an access token; without a refresh token there may be one still. Nulls are ignored.
    days: 1,
    since: 'greatest(signed_in_at, ended_at)',
    only: 'not exists (select from refresh_tokens where sign_in_id = sign_ins.id)',
    why: 'As long as a token of it could live, so that its use is reported as revoked',
  },
  devices: [
    {
      days: 1,
      since: 'created_at',
      only: 'sealed_srp_verifier is null',
      why: 'Clients confirm a device at once or never',
    },
    { days: 400, since: 'last_sign_in_at', why: 'Browsers keep cookies this long: a device unused since is gone' },
  ],
  known_addresses: {
    days: 180,
    since: 'last_seen_at',
    why: 'Where the owner has not been for half a year is not known',
  },
}

import { randomBytes } from 'node:crypto'

/** What others give an operator; the rest is random. */
export const givenSecrets = {
  STRIPE_SECRET_KEY: 'the secret key of Stripe, sk_live_…',
  STRIPE_WEBHOOK_SECRETS: 'the signing secret of the webhook at Stripe, whsec_…',
  SMTP_URL: 'smtps://user:password@host:465',
  BACKUP_ACCESS_KEY_ID: 'the access key of the bucket for backups',
  BACKUP_SECRET_ACCESS_KEY: 'its secret',
}
export type GivenSecrets = Record<keyof typeof givenSecrets, string>

export interface Secret {
  apiVersion: 'v1'
  kind: 'Secret'
  type: 'Opaque' | 'kubernetes.io/basic-auth'
  metadata: { name: string; namespace: 'robokids'; labels?: Record<string, string> }
  stringData: Record<string, string>
}

const namespace = 'robokids'
// Hexadecimal digits need no quotes anywhere: not in a URL, nor in the broker's configuration.
const random = () => randomBytes(24).toString('hex')
const key = () => `k1:${randomBytes(32).toString('base64')}`

function opaque(name: string, stringData: Record<string, string>): Secret {
  return { apiVersion: 'v1', kind: 'Secret', type: 'Opaque', metadata: { name, namespace }, stringData }
}

/** The role that CloudNativePG makes with this password, and the URL by which the service uses it. */
function database(role: string): Secret {
  const password = random()
  const url = `postgres://${role}:${password}@postgres-rw:5432/${role}?sslmode=verify-full`
  return {
    ...opaque(`database-${role}`, { username: role, password, url }),
    type: 'kubernetes.io/basic-auth',
    // CloudNativePG changes the role's password when that of the Secret changes.
    metadata: { name: `database-${role}`, namespace, labels: { 'cnpg.io/reload': 'true' } },
  }
}

/** Returns all Secrets that the overlays mount, with new random values. */
export function createSecrets(given: GivenSecrets): Secret[] {
  const client = random()
  const accessKey = { id: `AK${randomBytes(8).toString('hex').toUpperCase()}`, secret: random() }
  return [
    opaque('system', { ADMIN_SECRET: random() }),
    opaque('admin', { AWS_ACCESS_KEY_ID: accessKey.id, AWS_SECRET_ACCESS_KEY: accessKey.secret }),
    opaque('identity', {
      SEALING_KEYS: key(),
      MAC_KEYS: key(),
      CLIENT_SECRETS: `robokidsbff:${client}`,
      ADMIN_KEYS: `${accessKey.id}:${accessKey.secret}`,
    }),
    opaque('bff', { IDENTITY_CLIENT_SECRET: client, PROOF_SECRET: random(), SESSION_KEYS: key() }),
    opaque('code-sealing', { CODE_SEALING_KEYS: key() }),
    opaque('stripe', {
      STRIPE_SECRET_KEY: given.STRIPE_SECRET_KEY,
      STRIPE_WEBHOOK_SECRETS: given.STRIPE_WEBHOOK_SECRETS,
    }),
    opaque('smtp', { SMTP_URL: given.SMTP_URL }),
    opaque(
      'broker',
      Object.fromEntries(
        ['identity', 'enrollment', 'billing', 'notifications', 'bff', 'operator'].map((user) => [user, random()]),
      ),
    ),
    ...['identity', 'enrollment', 'billing', 'notifications'].map(database),
    opaque('backups', {
      ACCESS_KEY_ID: given.BACKUP_ACCESS_KEY_ID,
      SECRET_ACCESS_KEY: given.BACKUP_SECRET_ACCESS_KEY,
    }),
  ]
}

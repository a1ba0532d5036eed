import { z } from 'zod'

/** The requests for which a visitor who is not signed in needs a proof of work: each costs a seat, a payment page or a mail. */
export const proofForms = [
  'registration',
  'waitlist',
  'payment',
  'membership',
  'order',
  'sign-up',
  'code',
  'password',
  'sign-in',
  'notice',
  'contact',
] as const
export type ProofForm = (typeof proofForms)[number]

/**
 * An altcha challenge (version 2, PBKDF2/SHA-256): find the `counter` for which the key derived from `nonce` and the counter
 * (32 bits, big-endian), with `salt` and `cost` rounds, begins with `keyPrefix`.
 */
export const challengeSchema = z.object({
  parameters: z.object({
    algorithm: z.literal('PBKDF2/SHA-256'),
    nonce: z.string(),
    salt: z.string(),
    cost: z.int().min(1),
    keyLength: z.int().min(1),
    keyPrefix: z.string(),
    keySignature: z.string(),
    /** Unix time in seconds. */
    expiresAt: z.int(),
    data: z.object({ form: z.enum(proofForms), level: z.int() }),
  }),
  signature: z.string(),
})
export type Challenge = z.infer<typeof challengeSchema>

/**
 * The header with the proof of a request: the JSON of `proofSchema` in Base64. Each proof is accepted once. Without a valid one
 * the response is 403 `proof_required` with a `challenge` to solve before retrying.
 */
export const proofHeader = 'x-proof'
export const proofSchema = z.object({
  challenge: challengeSchema,
  solution: z.object({ counter: z.int().min(0), derivedKey: z.string() }),
})
export type Proof = z.infer<typeof proofSchema>

/**
 * `GET /api/proof?form=`: a challenge to solve ahead of the request; null if none is needed, for example while signed in.
 */
export const proofQuerySchema = z.object({ form: z.enum(proofForms) })
export const proofChallengeSchema = z.object({ challenge: challengeSchema.nullable() })

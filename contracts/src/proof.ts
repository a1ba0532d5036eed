import { z } from 'zod'

/** What a visitor who is not signed in asks for with a proof of work: each costs a seat, a payment page or a mail. */
export const proofForms = [
  'registration',
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
 * What is to be solved: a challenge of altcha (version 2, PBKDF2/SHA-256). Find the `counter` for which the key that is
 * derived from `nonce` and the counter (32 bits, big-endian), with `salt` and `cost` rounds, begins with `keyPrefix`.
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
    /** In seconds of Unix time. */
    expiresAt: z.int(),
    data: z.object({ form: z.enum(proofForms), level: z.int() }),
  }),
  signature: z.string(),
})
export type Challenge = z.infer<typeof challengeSchema>

/**
 * The header of a request that brings its proof: the JSON of `proofSchema` in Base64. Each is taken once. Without a good one
 * the request is answered 403 `proof_required`, with a `challenge` to solve and to send it again with.
 */
export const proofHeader = 'x-proof'
export const proofSchema = z.object({
  challenge: challengeSchema,
  solution: z.object({ counter: z.int().min(0), derivedKey: z.string() }),
})
export type Proof = z.infer<typeof proofSchema>

/**
 * `GET /api/proof?form=`: a challenge ahead of the request, so that it is solved by then; null where none is needed, as for
 * whoever is signed in.
 */
export const proofQuerySchema = z.object({ form: z.enum(proofForms) })
export const proofChallengeSchema = z.object({ challenge: challengeSchema.nullable() })

import { unpaidSeatsSchema } from '@robokids/contracts/enrollment'
import {
  challengeSchema,
  proofHeader,
  proofSchema,
  type Challenge,
  type Proof,
  type ProofForm,
} from '@robokids/contracts/proof'
import { ClientCounts } from '@robokids/runtime/client-counts'
import { DomainError } from '@robokids/runtime/errors'
import { blockOf, networkOf } from '@robokids/runtime/network-address'
import type { Context } from '@robokids/runtime/service'
import { createChallenge, randomInt, verifySolution } from 'altcha-lib'
import { deriveKey } from 'altcha-lib/algorithms/pbkdf2'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Config } from './config.ts'
import { Cached } from './cached.ts'
import { isOwnAddress, type Sessions } from './session.ts'
import { proofLifetimeMs as lifetimeMs, SpentProofs } from './spent-proofs.ts'
import type { Services } from './upstream.ts'

/** How long a challenge is accepted even if demand has risen. */
const freshMs = 60_000

/** Rounds per derivation: creating a challenge takes a fraction of a millisecond, and checking its solution almost nothing. */
const rounds = 500

/** The factor of work between two levels. */
const stepFactor = 4

const windowMs = 10 * 60_000
/** The number of challenges per network and block in a window before they get harder. */
const easyChallenges = { address: 20, block: 80 }

/** The number of requests of an account in a window without a proof. An undecided family needs fewer, a program hundreds. */
const exemptPerAccount = 30

/** Rises for a date with mostly unpaid seats, which is about to be full without being sold. */
function demandLevelOf(dates: { held: number; left: number }[]): number {
  const share = Math.max(0, ...dates.map(({ held, left }) => (held < 2 ? 0 : held / (held + left))))
  return share >= 0.8 ? 2 : share >= 0.5 ? 1 : 0
}

/** The forms that send a mail to a typed email. */
const mailForms: readonly ProofForm[] = ['waitlist', 'sign-up', 'code', 'password', 'notice']

/**
 * Proofs of work. They are required for requests that take a seat, create a payment page or send a mail: from visitors who are not
 * signed in, and from accounts that send a mail to another email than their own, or very many requests.
 */
export interface Proofs {
  /** A challenge for a form that is being filled in; null if none is required. */
  challenge(form: ProofForm, request: FastifyRequest, reply: FastifyReply): Promise<Challenge | null>
  /** The hook of a route: rejects requests without a valid proof. @throws DomainError `proof_required` with a challenge */
  required(form: ProofForm): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

export function createProofs(
  context: Pick<Context<Config>, 'bus' | 'config' | 'log'>,
  sessions: Pick<Sessions, 'ownerOf'>,
  { enrollment }: Pick<Services, 'enrollment'>,
): Proofs {
  const { config, log } = context
  const secrets = {
    hmacSignatureSecret: `challenge ${config.PROOF_SECRET}`,
    hmacKeySignatureSecret: `key ${config.PROOF_SECRET}`,
  }
  const spent = new SpentProofs(context)
  const counts = new ClientCounts('proofs', context)

  function requestLevel(who: string, max: number): number {
    const { count } = counts.add(who, windowMs)
    return count <= max ? 0 : count <= max * 4 ? 1 : count <= max * 16 ? 2 : 3
  }

  const unpaidSeats = new Cached(
    () => enrollment.call('GET', '/unpaid-seats', { answer: unpaidSeatsSchema }),
    (error) => log.warn({ err: error }, 'could not read the number of unpaid seats'),
  )

  /** The demand for what a form requests; 0 if unknown. */
  async function demandLevel(form: ProofForm): Promise<number> {
    if (form !== 'registration' && form !== 'payment' && form !== 'membership') return 0
    const { sessions = [] } = (await unpaidSeats.get()) ?? {}
    return demandLevelOf(sessions.filter(({ classType }) => (classType === 'membership') === (form === 'membership')))
  }

  async function make(form: ProofForm, { ip }: FastifyRequest): Promise<Challenge> {
    const requests = Math.max(
      requestLevel(networkOf(ip), easyChallenges.address),
      requestLevel(`block ${blockOf(ip)}`, easyChallenges.block),
    )
    const level = Math.max(requests, await demandLevel(form))
    const max = config.PROOF_DERIVATIONS * stepFactor ** level
    const challenge = await createChallenge({
      algorithm: 'PBKDF2/SHA-256',
      cost: rounds,
      // At least half of the maximum, so that it takes about the same time each time.
      counter: randomInt(max, Math.ceil(max / 2)),
      deriveKey,
      data: { form, level },
      expiresAt: Math.floor((Date.now() + lifetimeMs) / 1_000),
      ...secrets,
    })
    return challengeSchema.parse(challenge)
  }

  const reject = async (form: ProofForm, request: FastifyRequest): Promise<never> => {
    const message = 'We couldn’t check that you’re not a robot. Please reload the page and try again.'
    throw new DomainError('proof_required', message, undefined, { challenge: await make(form, request) })
  }

  async function isGood({ challenge, solution }: Proof, form: ProofForm): Promise<boolean> {
    const { data, expiresAt } = challenge.parameters
    if (data.form !== form) return false
    // An older challenge is too easy if demand has risen since; a fresh one is accepted.
    const isFresh = expiresAt * 1_000 - lifetimeMs > Date.now() - freshMs
    if (!isFresh && data.level < (await demandLevel(form)) - 1) return false
    const { verified } = await verifySolution({ challenge, solution, deriveKey, ...secrets })
    return verified && spent.spend(challenge.signature, expiresAt * 1_000)
  }

  /**
   * @param address the recipient of the mail; undefined if not known yet.
   * @returns the account that needs no proof for it; undefined if there is none.
   */
  async function exemptAccount(
    form: ProofForm,
    address: string | undefined,
    request: FastifyRequest,
    reply: FastifyReply,
  ): Promise<string | undefined> {
    const owner = await sessions.ownerOf(request, reply)
    if (owner.ownerId === null || !owner.isConfirmed) return undefined
    const isOwn = address !== undefined && isOwnAddress(address, owner)
    return isOwn || !mailForms.includes(form) ? owner.ownerId : undefined
  }

  return {
    async challenge(form, request, reply) {
      const account = await exemptAccount(form, undefined, request, reply)
      return account === undefined ? make(form, request) : null
    },

    required: (form) => async (request, reply) => {
      const account = await exemptAccount(form, addressIn(request.body), request, reply)
      if (account !== undefined && counts.add(`account ${account}`, windowMs).count <= exemptPerAccount) return
      const proof = readProof(request.headers[proofHeader])
      if (!proof || !(await isGood(proof, form))) await reject(form, request)
    },
  }
}

function addressIn(body: unknown): string | undefined {
  const { email } = (body ?? {}) as { email?: unknown }
  return typeof email === 'string' ? email : undefined
}

function readProof(header: string | string[] | undefined): Proof | undefined {
  if (typeof header !== 'string') return undefined
  try {
    return proofSchema.parse(JSON.parse(Buffer.from(header, 'base64').toString()))
  } catch {
    return undefined
  }
}

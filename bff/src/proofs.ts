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
import { Recent } from './recent.ts'
import { isOwnAddress, type Sessions } from './session.ts'
import { SpentProofsInMemory, type SpentProofs } from './spent-proofs.ts'
import type { Services } from './upstream.ts'

/** Long enough for a form that is filled in with an interruption; what takes longer is proven anew, unseen. */
const lifetimeMs = 20 * 60_000

/** For how long a challenge is good whatever happens meanwhile. */
const freshMs = 60_000

/** Rounds of one derivation. With it a challenge costs a fraction of a millisecond to make, and its solution nothing to check. */
const rounds = 500

/** Each step takes four times as much work as the one before. */
const stepFactor = 4

const windowMs = 10 * 60_000
/** Challenges that one address, or its whole block, may have in a window before the next ones are harder. */
const fewOf = { address: 20, block: 80 }

/** What one account may ask for in a window without any. A family that changes its mind asks for less, a program for hundreds. */
const sparedOfAccount = 30

/** A date of which most seats wait for their payment is about to be full without being sold. */
function heatOf(dates: { held: number; left: number }[]): number {
  const share = Math.max(0, ...dates.map(({ held, left }) => (held < 2 ? 0 : held / (held + left))))
  return share >= 0.8 ? 2 : share >= 0.5 ? 1 : 0
}

/** What sends a mail to whatever address is typed in. */
const mailForms: readonly ProofForm[] = ['sign-up', 'code', 'password', 'notice']

/**
 * Proofs of work, which everybody brings who is not signed in and asks for something that costs a seat, a page or a mail; who is
 * signed in for a mail to another address than their own, and where they ask for very many.
 */
export interface Proofs {
  /** A challenge for a form that is being filled in; null for whoever needs none. */
  challenge(form: ProofForm, request: FastifyRequest, reply: FastifyReply): Promise<Challenge | null>
  /** For a route: refuses a request without a good proof of its form. @throws DomainError `proof_required` with a challenge */
  required(form: ProofForm): (request: FastifyRequest, reply: FastifyReply) => Promise<void>
}

export function proofsOf(
  { config, log }: Pick<Context<Config>, 'config' | 'log'>,
  sessions: Pick<Sessions, 'ownerOf'>,
  { enrollment }: Pick<Services, 'enrollment'>,
  spent: SpentProofs = new SpentProofsInMemory(),
): Proofs {
  const secrets = {
    hmacSignatureSecret: `challenge ${config.PROOF_SECRET}`,
    hmacKeySignatureSecret: `key ${config.PROOF_SECRET}`,
  }
  const counts = new ClientCounts()

  function askedBy(who: string, most: number): number {
    const { count: asked } = counts.add(who, windowMs)
    return asked <= most ? 0 : asked <= most * 4 ? 1 : asked <= most * 16 ? 2 : 3
  }

  const unpaidSeats = new Recent(
    () => enrollment.call('GET', '/unpaid-seats', { answer: unpaidSeatsSchema }),
    (error) => log.warn({ err: error }, 'how many seats wait for their payment is not known'),
  )

  /** How hot what a form leads to runs; not at all where that cannot be found out. */
  async function heat(form: ProofForm): Promise<number> {
    if (form !== 'registration' && form !== 'payment' && form !== 'membership') return 0
    const { sessions = [] } = (await unpaidSeats.get()) ?? {}
    return heatOf(sessions.filter(({ classType }) => (classType === 'membership') === (form === 'membership')))
  }

  async function make(form: ProofForm, { ip }: FastifyRequest): Promise<Challenge> {
    const asked = Math.max(askedBy(networkOf(ip), fewOf.address), askedBy(`block ${blockOf(ip)}`, fewOf.block))
    const level = Math.max(asked, await heat(form))
    const most = config.PROOF_DERIVATIONS * stepFactor ** level
    const challenge = await createChallenge({
      algorithm: 'PBKDF2/SHA-256',
      cost: rounds,
      // Never much less than the most, so that it takes about as long each time.
      counter: randomInt(most, Math.ceil(most / 2)),
      deriveKey,
      data: { form, level },
      expiresAt: Math.floor((Date.now() + lifetimeMs) / 1_000),
      ...secrets,
    })
    return challengeSchema.parse(challenge)
  }

  const refuse = async (form: ProofForm, request: FastifyRequest): Promise<never> => {
    const message = 'Your browser has to prove that it is nobody’s robot. Please reload the page and try again.'
    throw new DomainError('proof_required', message, undefined, { challenge: await make(form, request) })
  }

  async function isGood({ challenge, solution }: Proof, form: ProofForm): Promise<boolean> {
    const { data, expiresAt } = challenge.parameters
    if (data.form !== form) return false
    // What was given out before it became this hot was too little work, but for a parent who began a moment earlier.
    const isFresh = expiresAt * 1_000 - lifetimeMs > Date.now() - freshMs
    if (!isFresh && data.level < (await heat(form)) - 1) return false
    const { verified } = await verifySolution({ challenge, solution, deriveKey, ...secrets })
    return verified && spent.spend(challenge.signature, expiresAt * 1_000)
  }

  /**
   * @param address what a mail goes to; undefined where that is not known yet.
   * @returns the account that needs none for that; undefined where there is none.
   */
  async function sparedAccount(
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
      const account = await sparedAccount(form, undefined, request, reply)
      return account === undefined ? make(form, request) : null
    },

    required: (form) => async (request, reply) => {
      const account = await sparedAccount(form, addressIn(request.body), request, reply)
      if (account !== undefined && counts.add(`account ${account}`, windowMs).count <= sparedOfAccount) return
      const proof = readProof(request.headers[proofHeader])
      if (!proof || !(await isGood(proof, form))) await refuse(form, request)
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

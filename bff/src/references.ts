import { randomUUID } from 'node:crypto'
import { errorStatus, type ErrorCode } from '@robokids/contracts/errors'
import { uuid } from '@robokids/contracts/fields'
import { ClientCounts } from '@robokids/runtime/client-counts'
import { DomainError } from '@robokids/runtime/errors'
import { GuessLimit } from '@robokids/runtime/guess-limit'
import type { Context } from '@robokids/runtime/service'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from './config.ts'

/** The reference of a registration, an order or a payment in a URL. */
export const referenceParams = z.object({ reference: z.string() })

/** The errors for references that are not of that kind. */
const kinds = {
  registration: ['registration_not_found', 'We can’t find a registration with this reference.'],
  order: ['order_not_found', 'We can’t find an order with this reference.'],
  membership: ['membership_not_found', 'We can’t find a membership with this reference.'],
  payment: ['checkout_not_found', 'We can’t find a payment with this reference.'],
  waitlist: ['waitlist_entry_not_found', 'We can’t find this place in line.'],
  choice: ['choice_not_found', 'We can’t find this choice.'],
  notice: ['notice_not_found', 'We can’t find this request.'],
} as const satisfies Record<string, [ErrorCode, string]>
export type ReferenceKind = keyof typeof kinds

/** Enough for a few mistyped URLs; open pages request references that exist. */
const limits = { what: 'reference', perNetwork: 40, windowMs: 600_000 }
/** About how long known references stay accessible from a blocked network. */
const knownForMs = 86_400_000

function isNotFound(error: unknown): error is DomainError {
  return error instanceof DomainError && errorStatus[error.code] === 404
}

/**
 * Looks up records by reference, which is all that their pages require. A reference that is malformed, unknown or of another kind
 * takes the same path and gets the same response, so that nothing is disclosed. A network that tries many is blocked for a
 * while, except for references found before, so that a family can keep viewing its own pages.
 */
export class References {
  readonly #limit: GuessLimit
  readonly #known: ClientCounts

  constructor(context: Context<Config>) {
    this.#limit = new GuessLimit(context, limits)
    this.#known = new ClientCounts('known-references', context)
  }

  /**
   * Runs `work` with the id in a reference.
   * @throws DomainError the error of that kind for any 404 of `work`, `rate_limited`, and any other error of `work`
   */
  async find<T>(
    request: FastifyRequest,
    reference: string,
    kind: ReferenceKind,
    work: (id: string) => Promise<T>,
  ): Promise<T> {
    // A malformed reference is replaced by an unknown one.
    const id = uuid().safeParse(reference).data ?? randomUUID()
    if (this.#known.of(id) === 0 && this.#limit.isBlocked(request))
      throw this.#limit.countWrong(request, this.#limit.rateLimitError())
    try {
      const found = await work(id)
      this.remember(id)
      return found
    } catch (error) {
      if (!isNotFound(error)) throw error
      const [code, message] = kinds[kind]
      throw this.#limit.countWrong(request, new DomainError(code, message))
    }
  }

  /**
   * Runs `work` with what a visitor sends instead of a reference (a name and an email), which can be guessed as well.
   * @throws DomainError `rate_limited`, and any error of `work`
   */
  async findWithout<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    if (this.#limit.isBlocked(request)) throw this.#limit.countWrong(request, this.#limit.rateLimitError())
    try {
      return await work()
    } catch (error) {
      throw isNotFound(error) ? this.#limit.countWrong(request, error) : error
    }
  }

  /** Marks a reference as known, because a visitor has just received it. */
  remember(id: string): void {
    // Once: an open page asks again and again, and each count is sent to the other BFFs.
    if (this.#known.of(id) === 0) this.#known.add(id, knownForMs)
  }
}

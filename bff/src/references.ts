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

/** What a visitor names a registration, an order or a payment by. */
export const referenceParams = z.object({ reference: z.string() })

/** What is answered where a reference is none of that kind. */
const kinds = {
  registration: ['registration_not_found', 'We know no registration with this reference.'],
  order: ['order_not_found', 'We know no order with this reference.'],
  membership: ['membership_not_found', 'We know no membership with this reference.'],
  payment: ['checkout_not_found', 'We know no payment with this reference.'],
  notice: ['notice_not_found', 'We have no such request.'],
} as const satisfies Record<string, [ErrorCode, string]>
export type ReferenceKind = keyof typeof kinds

/** A mistyped address is tried a few times; a page that is open asks for one that there is. */
const limits = { what: 'reference', perNetwork: 40, windowMs: 600_000 }
/** For about so long, pages that were opened once are opened whatever is guessed at from their network. */
const knownForMs = 86_400_000

function isNotFound(error: unknown): error is DomainError {
  return error instanceof DomainError && errorStatus[error.code] === 404
}

/**
 * Finds what visitors have a reference of, which is all that its pages ask for. One that is malformed, unknown or of
 * something else goes the same way and gets the same answer, so that nothing is learnt of what there is. Whoever tries many is
 * not listened to for a while, except for what was found before: a family keeps looking at its own pages.
 */
export class References {
  readonly #limit: GuessLimit
  readonly #known = new ClientCounts()

  constructor(context: Context<Config>) {
    this.#limit = new GuessLimit(context, limits)
  }

  /**
   * Does something with the id in a reference.
   * @throws DomainError the refusal of that kind for any 404 of `work`, `rate_limited`, and whatever else `work` throws
   */
  async find<T>(
    request: FastifyRequest,
    reference: string,
    kind: ReferenceKind,
    work: (id: string) => Promise<T>,
  ): Promise<T> {
    // One that nobody has is asked for in place of what is no reference.
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
   * Does something with what a visitor tells in a reference's place, a name and an address, which can be tried out as well.
   * @throws DomainError `rate_limited`, and whatever `work` throws
   */
  async findWithout<T>(request: FastifyRequest, work: () => Promise<T>): Promise<T> {
    if (this.#limit.isBlocked(request)) throw this.#limit.countWrong(request, this.#limit.rateLimitError())
    try {
      return await work()
    } catch (error) {
      throw isNotFound(error) ? this.#limit.countWrong(request, error) : error
    }
  }

  /** Somebody was given this reference: its pages are opened from here next. */
  remember(id: string): void {
    this.#known.add(id, knownForMs)
  }
}

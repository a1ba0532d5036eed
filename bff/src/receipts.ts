import type { RegistrationView } from '@robokids/contracts/bff'
import { receiptDetails, receiptNote, receiptTitle } from '@robokids/contracts/receipt'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FactSheet } from '@robokids/typesetting/fact-sheet'
import { isolate } from '@robokids/contracts/isolate'
import { Typesetter } from '@robokids/typesetting/typesetter'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Config } from './config.ts'

/** The maximum number of receipts being made or queued. Each takes a tenth of a second, or one with very long names in many scripts. */
const maxQueued = 12
/** How long the idle thread, with its fonts, is kept. */
const idleMs = 60_000

/** A receipt and its file name. */
export interface ReceiptFile {
  sheet: FactSheet
  name: string
}

/**
 * The receipt of a registration, with the content of its page.
 * @throws DomainError `registration_not_paid`, or `upstream_unavailable` if not every service knows the payment yet
 */
export function receiptFile(view: RegistrationView): ReceiptFile {
  const { checkout, status } = view
  if (!checkout?.paidAt) {
    if (status === 'confirmed' || status === 'waiver_signed') throw unavailable(new Error('a payment is not known yet'))
    throw new DomainError('registration_not_paid', 'There is no receipt until the registration is paid.')
  }
  const number = checkout.receiptNumber ?? ''
  return {
    sheet: {
      title: receiptTitle,
      facts: receiptDetails(view, undefined, isolate).map(([name, lines]) => ({ name, lines })),
      note: receiptNote(view),
      createdAt: checkout.paidAt,
      file: { title: `${receiptTitle} ${number}`.trim(), author: 'Robo Kids Learning', language: 'en-US' },
    },
    name: `${['robo-kids-receipt', ...number.split(/[^\w-]+/)].filter((part) => part !== '').join('-')}.pdf`,
  }
}

/**
 * Renders receipts in a separate thread, one at a time. Concurrent requests for the same receipt share one rendering, so that a
 * family takes one place in the queue.
 */
export class Receipts {
  readonly #typesetter = new Typesetter<FactSheet>(
    new URL(import.meta.resolve('@robokids/typesetting/fact-sheet-worker')),
  )
  readonly #limit = new ConcurrencyLimit(1)
  readonly #inFlight = new Map<string, Promise<Uint8Array>>()
  readonly #timeoutMs: number
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(http: Http, { UPSTREAM_TIMEOUT_MS }: Pick<Config, 'UPSTREAM_TIMEOUT_MS'>) {
    this.#timeoutMs = UPSTREAM_TIMEOUT_MS
    http.addHook('onClose', () => this.#close())
  }

  /** The same sheet gives the same bytes. @throws DomainError `busy`, or `upstream_unavailable` if it cannot be made in time */
  async make(sheet: FactSheet): Promise<Uint8Array> {
    const key = JSON.stringify(sheet)
    const inFlight = this.#inFlight.get(key)
    if (inFlight) return inFlight
    if (this.#inFlight.size >= maxQueued) {
      throw new DomainError('busy', 'We can’t make the receipt right now. Please try again in a moment.')
    }
    const made = this.#render(sheet).finally(() => this.#inFlight.delete(key))
    this.#inFlight.set(key, made)
    return made
  }

  async #render(sheet: FactSheet): Promise<Uint8Array> {
    const timeout = AbortSignal.timeout(this.#timeoutMs)
    try {
      await this.#limit.acquire(timeout)
      clearTimeout(this.#idle)
      try {
        return await this.#typesetter.render(sheet, timeout)
      } finally {
        this.#idle = setTimeout(() => void this.#close(), idleMs).unref()
        this.#limit.release()
      }
    } catch (error) {
      throw unavailable(error)
    }
  }

  async #close(): Promise<void> {
    clearTimeout(this.#idle)
    await this.#typesetter.close()
  }
}

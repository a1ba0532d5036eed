import type { RegistrationView } from '@robokids/contracts/bff'
import { receiptDetails, receiptNote, receiptTitle } from '@robokids/contracts/receipt'
import { DomainError, unavailable } from '@robokids/runtime/errors'
import type { Http } from '@robokids/runtime/http'
import type { FactSheet } from '@robokids/typesetting/fact-sheet'
import { isolate } from '@robokids/contracts/isolate'
import { Typesetter } from '@robokids/typesetting/typesetter'
import { ConcurrencyLimit } from './concurrency-limit.ts'
import type { Config } from './config.ts'

/** Receipts that may be made or wait for that at once. Each takes a tenth of a second, and the longest names in many scripts one. */
const longestLine = 12
/** How long the thread that makes them waits for another one, with its fonts. */
const idleMs = 60_000

/** A receipt, and what it is called as a file. */
export interface ReceiptFile {
  sheet: FactSheet
  name: string
}

/**
 * The receipt of a registration: what its page shows, said for paper.
 * @throws DomainError `registration_not_paid`, or `upstream_unavailable` where the payment is not known everywhere yet
 */
export function receiptFile(view: RegistrationView): ReceiptFile {
  const { checkout, status } = view
  if (!checkout?.paidAt) {
    if (status === 'confirmed' || status === 'waiver_signed') throw unavailable(new Error('a payment is not known yet'))
    throw new DomainError('registration_not_paid', 'There is no receipt for a registration that is not paid.')
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
 * Makes receipts, one after the other, in a thread beside the one that answers. What is asked for again while it is made is
 * made once, so that one family has one place in the line.
 */
export class Receipts {
  readonly #typesetter = new Typesetter<FactSheet>(
    new URL(import.meta.resolve('@robokids/typesetting/fact-sheet-worker')),
  )
  readonly #turn = new ConcurrencyLimit(1)
  readonly #underWay = new Map<string, Promise<Uint8Array>>()
  readonly #withinMs: number
  #idle: ReturnType<typeof setTimeout> | undefined

  constructor(http: Http, { UPSTREAM_TIMEOUT_MS }: Pick<Config, 'UPSTREAM_TIMEOUT_MS'>) {
    this.#withinMs = UPSTREAM_TIMEOUT_MS
    http.addHook('onClose', () => this.#close())
  }

  /** The same sheet is the same bytes. @throws DomainError `busy`, and `upstream_unavailable` where it cannot be made in time */
  async make(sheet: FactSheet): Promise<Uint8Array> {
    const key = JSON.stringify(sheet)
    const underWay = this.#underWay.get(key)
    if (underWay) return underWay
    if (this.#underWay.size >= longestLine) {
      throw new DomainError('busy', 'Many receipts are being made just now. Please try again in a moment.')
    }
    const made = this.#render(sheet).finally(() => this.#underWay.delete(key))
    this.#underWay.set(key, made)
    return made
  }

  async #render(sheet: FactSheet): Promise<Uint8Array> {
    const inTime = AbortSignal.timeout(this.#withinMs)
    try {
      await this.#turn.acquire(inTime)
      clearTimeout(this.#idle)
      try {
        return await this.#typesetter.render(sheet, inTime)
      } finally {
        this.#idle = setTimeout(() => void this.#close(), idleMs).unref()
        this.#turn.release()
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

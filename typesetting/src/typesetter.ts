import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { Result } from './answer-orders.ts'

/** A hundred times what the worst of names takes: whoever is not done by then never is. */
const renderAtMostMs = 120_000

/**
 * Makes PDFs in a thread of its own, which lives until `close`: long names in many scripts take the processor for a second and
 * more, and requests must not wait for that. The thread has its own bound of memory, and it alone loads fonts and what draws.
 */
export class Typesetter<Order> {
  readonly #program: URL
  #thread: { worker: Worker; died: Promise<never> } | undefined

  /** @param program what the thread runs: it calls `answerOrders`. */
  constructor(program: URL) {
    this.#program = program
  }

  /**
   * One at a time. The next one after a failure gets a new thread.
   * @param signal ends the thread, and with it this rendering.
   * @throws whatever rendering threw, or where the thread died, was ended, or did not answer in time.
   */
  async render(order: Order, signal: AbortSignal): Promise<Uint8Array> {
    const { worker, died } = (this.#thread ??= begin(this.#program))
    try {
      const inTime = AbortSignal.any([signal, AbortSignal.timeout(renderAtMostMs)])
      const answered = once(worker, 'message', { signal: inTime })
      worker.postMessage(order, [])
      const [result] = (await Promise.race([answered, died])) as [Result]
      if ('error' in result) throw new Error(result.error)
      return result.pdf
    } catch (error) {
      await this.close()
      throw error
    }
  }

  async close(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.worker.terminate()
  }
}

function begin(program: URL): { worker: Worker; died: Promise<never> } {
  const worker = new Worker(program, { resourceLimits: { maxOldGenerationSizeMb: 512 } })
  // It also rejects where the thread fails with an error.
  const died = once(worker, 'exit').then(([code]) => {
    throw new Error(`The typesetter's thread ended with ${String(code)}.`)
  })
  died.catch(() => {})
  return { worker, died }
}

import { createHmac, hash } from 'node:crypto'
import { z } from 'zod'
import type { Context } from './service.ts'

/** With 10,000 clients in a window, one in 700 shares both of its slots with others. */
const slots = 2 ** 18
/** How often a process sends the others what it has counted; the first count after a pause is sent at once. */
const shareEveryMs = 20
/** Counts of a window that ends sooner than this are not taken over: they could arrive in the next one. */
const windowTailMs = 100
/** A flood of clients is sent in several messages. */
const maxSharedAtOnce = 5_000

/** What one process sends the others: the rest of its window, and by how much each client's count has risen. */
const sharedSchema = z.object({
  msLeft: z.number().positive(),
  counts: z.record(z.string().regex(/^[0-9a-f]{16}$/), z.int().positive()),
})

/**
 * Counts events per client in the current time window, over all processes of this service, using 2 MB for any number of clients.
 * An attacker with enough addresses could make an evicting store forget (an IPv6 /48 alone has 65,536 networks that are counted
 * separately); this one never evicts. It is a count-min sketch: a keyed hash chooses two slots per client, and the smaller of
 * their counts is the client's. It is never too low, and too high only if other clients share both slots.
 *
 * Each process counts by itself and notifies the others, so that no request waits. Between two processes a count is late by about
 * 20 ms, and while the broker is away each has its own: docs/adr/0040-copies-share-what-they-know.md.
 */
export class ClientCounts {
  readonly #counts = new Uint32Array(2 * slots)
  /**
   * The same in all processes, and secret, which prevents choosing addresses that share the slots of another client. It also
   * keeps the clients' addresses off the broker.
   */
  readonly #key: Buffer
  readonly #share: (counted: z.infer<typeof sharedSchema>) => void
  readonly #unshared = new Map<string, number>()
  #windowEnds = -Infinity
  #sharedAt = -Infinity
  #sharing: NodeJS.Timeout | undefined

  /** @param name which counts these are, among those of the service: `mails`. Letters, digits and dashes. */
  constructor(name: string, { bus, config }: Pick<Context<unknown>, 'bus' | 'config'>) {
    this.#key = createHmac('sha256', config.ADMIN_SECRET).update('client counts').digest()
    const topic = `counts-${name}`
    this.#share = (counted) => bus.notifyCopies(topic, counted)
    bus.watchCopies(topic, (counted) => this.#takeOver(counted))
  }

  /** Counts an event. @returns the client's count in this window, and the milliseconds left in the window. */
  add(client: string, windowMs: number): { count: number; msLeft: number } {
    const now = performance.now()
    if (now >= this.#windowEnds) this.#begin(now + windowMs)
    const digest = this.#digestOf(client)
    const count = this.#raise(digest, 1)
    this.#unshared.set(digest, (this.#unshared.get(digest) ?? 0) + 1)
    if (this.#unshared.size >= maxSharedAtOnce) this.#shareAll()
    else this.#sharing ??= setTimeout(() => this.#shareAll(), Math.max(0, this.#sharedAt + shareEveryMs - now)).unref()
    return { count, msLeft: Math.ceil(this.#windowEnds - now) }
  }

  /** Returns a client's count in this window. */
  of(client: string): number {
    return performance.now() >= this.#windowEnds ? 0 : this.#minimum(this.#slotsOf(this.#digestOf(client)))
  }

  #begin(windowEnds: number): void {
    this.#counts.fill(0)
    this.#unshared.clear()
    this.#windowEnds = windowEnds
  }

  #shareAll(): void {
    clearTimeout(this.#sharing)
    this.#sharing = undefined
    const now = performance.now()
    this.#sharedAt = now
    const msLeft = this.#windowEnds - now
    if (msLeft > 0 && this.#unshared.size > 0) this.#share({ msLeft, counts: Object.fromEntries(this.#unshared) })
    this.#unshared.clear()
  }

  /** The window that ends first is that of all: otherwise a client could use each window of each process. */
  #takeOver(message: unknown): void {
    const shared = sharedSchema.safeParse(message)
    if (!shared.success || shared.data.msLeft < windowTailMs) return
    const now = performance.now()
    const windowEnds = now + shared.data.msLeft
    if (now >= this.#windowEnds) this.#begin(windowEnds)
    else this.#windowEnds = Math.min(this.#windowEnds, windowEnds)
    for (const [digest, by] of Object.entries(shared.data.counts)) this.#raise(digest, by)
  }

  #raise(digest: string, by: number): number {
    const pair = this.#slotsOf(digest)
    const count = this.#minimum(pair) + by
    // A slot with a higher count belongs to other clients and stays as it is.
    for (const slot of pair) this.#counts[slot] = Math.max(this.#counts[slot] ?? 0, count)
    return count
  }

  /** 64 bits: enough for two slots. */
  #digestOf(client: string): string {
    return hash('sha256', Buffer.concat([this.#key, Buffer.from(client)]), 'hex').slice(0, 16)
  }

  #slotsOf(digest: string): [number, number] {
    const [first, second] = [digest.slice(0, 8), digest.slice(8)].map((half) => Number.parseInt(half, 16) % slots)
    return [first ?? 0, slots + (second ?? 0)]
  }

  #minimum([first, second]: [number, number]): number {
    return Math.min(this.#counts[first] ?? 0, this.#counts[second] ?? 0)
  }
}

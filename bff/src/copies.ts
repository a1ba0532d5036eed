import { lookup as lookupName } from 'node:dns/promises'
import { isIPv6 } from 'node:net'
import { Pool } from 'undici'

/** The age at which the addresses of a name are looked up again: in the background, or before a request once they are old. */
const defaultRefreshAfterMs = 1_000
const oldAfterRefreshes = 5
/** How long a copy is left alone that could not be reached, or that said that it is stopping. */
const avoidUnreachableMs = 1_000
const avoidStoppingMs = 5_000
/** A stopping process serves for longer than that (`DRAIN_MS`), so that it never closes a connection that is about to be used. */
const idleConnectionMs = 2_000
const connectTimeoutMs = 2_000
const maxAttempts = 3

interface Outgoing {
  headers?: Record<string, string>
  body?: Buffer | undefined
  signal: AbortSignal
}

export interface RawAnswer {
  status: number
  headers: Record<string, string | string[] | undefined>
  body: Buffer
}

interface Copy {
  address: string
  pool: Pool
  /** The number of its requests in flight. */
  busy: number
  avoidUntil: number
}

/** Whether a request failed before any of it was sent. */
function isUnsent(error: Error & { code?: string; syscall?: string }): boolean {
  return error.syscall === 'connect' || error.code === 'UND_ERR_CONNECT_TIMEOUT'
}

/** Whether the connection of a request ended before its response did. */
function isCutOff({ code = '' }: Error & { code?: string }): boolean {
  return code === 'UND_ERR_SOCKET' || code === 'ECONNRESET' || code === 'EPIPE'
}

/**
 * The copies of another process behind one name, such as those that an operator has scaled in Docker or in a headless service of
 * Kubernetes. Each request goes to the least busy one. Without this, a client would send everything to the address that the
 * system's resolver happens to sort first, and keep to it while copies come and go.
 *
 * A request that never reached its copy is sent to another, and so is a GET whose connection broke. Whether anything else was
 * handled is unknown, and only the caller knows whether it can be repeated.
 */
export class Copies {
  readonly #url: URL
  readonly #lookup: typeof lookupAll
  readonly #refreshAfterMs: number
  readonly #copies = new Map<string, Copy>()
  #lookedUpAt = -Infinity
  #lookingUp: Promise<void> | undefined

  constructor(url: string, { lookup = lookupAll, refreshAfterMs = defaultRefreshAfterMs } = {}) {
    this.#url = new URL(url)
    this.#lookup = lookup
    this.#refreshAfterMs = refreshAfterMs
  }

  /** @throws if there is no answer, or if `signal` aborts. */
  async request(method: 'GET' | 'POST', path: string, { headers, body, signal }: Outgoing): Promise<RawAnswer> {
    const tried = new Set<Copy>()
    for (let attempt = 1; ; attempt += 1) {
      await this.#refresh()
      // From here on without a wait: a copy that is gone meanwhile takes no more requests.
      const copy = this.#choose(tried)
      tried.add(copy)
      copy.busy += 1
      try {
        const answer = await copy.pool.request({
          method,
          path,
          body: body ?? null,
          headers: { ...headers, host: this.#url.host },
          signal,
        })
        if (answer.headers['connection'] === 'close') copy.avoidUntil = performance.now() + avoidStoppingMs
        return {
          status: answer.statusCode,
          headers: answer.headers,
          body: Buffer.from(await answer.body.arrayBuffer()),
        }
      } catch (error) {
        if (!(error instanceof Error) || signal.aborted) throw error
        const unsent = isUnsent(error)
        if (unsent || isCutOff(error)) copy.avoidUntil = performance.now() + avoidUnreachableMs
        if (attempt === maxAttempts || !(unsent || (method === 'GET' && isCutOff(error)))) throw error
        this.#lookedUpAt = -Infinity
      } finally {
        copy.busy -= 1
      }
    }
  }

  async #refresh(): Promise<void> {
    const age = performance.now() - this.#lookedUpAt
    if (age <= this.#refreshAfterMs) return
    this.#lookingUp ??= this.#lookUp().finally(() => (this.#lookingUp = undefined))
    if (age > this.#refreshAfterMs * oldAfterRefreshes || this.#copies.size === 0) await this.#lookingUp
  }

  /** The least busy of those that are not to be avoided, or else of all. Those that failed already are a last resort. */
  #choose(tried: ReadonlySet<Copy>): Copy {
    const now = performance.now()
    const rank = (copy: Copy) => Number(tried.has(copy)) * 2 + Number(copy.avoidUntil > now)
    const [chosen] = [...this.#copies.values()].toSorted((a, b) => rank(a) - rank(b) || a.busy - b.busy)
    if (!chosen) throw new Error(`${this.#url.hostname} has no address`)
    // Equally busy ones take turns.
    this.#copies.delete(chosen.address)
    this.#copies.set(chosen.address, chosen)
    return chosen
  }

  /** Without an answer, the known addresses are kept. @throws if none is known. */
  async #lookUp(): Promise<void> {
    let addresses: string[]
    try {
      addresses = await this.#lookup(this.#url.hostname)
    } catch (error) {
      if (this.#copies.size === 0) throw error
      addresses = [...this.#copies.keys()]
    }
    this.#lookedUpAt = performance.now()
    for (const [address, copy] of this.#copies) {
      if (addresses.includes(address)) continue
      this.#copies.delete(address)
      void copy.pool.close()
    }
    for (const address of addresses) {
      if (this.#copies.has(address)) continue
      this.#copies.set(address, { address, pool: this.#connect(address), busy: 0, avoidUntil: 0 })
    }
  }

  #connect(address: string): Pool {
    const { protocol, port, hostname } = this.#url
    return new Pool(`${protocol}//${isIPv6(address) ? `[${address}]` : address}${port && `:${port}`}`, {
      connect: { timeout: connectTimeoutMs, ...(protocol === 'https:' ? { servername: hostname } : {}) },
      // The caller's signal is the only limit.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: idleConnectionMs,
      keepAliveMaxTimeout: idleConnectionMs,
    })
  }
}

async function lookupAll(name: string): Promise<string[]> {
  const found = await lookupName(name.replaceAll(/[[\]]/g, ''), { all: true })
  return found.map(({ address }) => address)
}

const known = new Map<string, Copies>()

/** Returns the copies of the process at a URL, whose connections everything in this process shares. */
export function copiesAt(url: string): Copies {
  const copies = known.get(url) ?? new Copies(url)
  known.set(url, copies)
  return copies
}

/** Faults that a test orders: each hits the next `times` API requests of a path, then is gone. */

export interface Fault {
  kind: 'delay' | 'reset' | 'error'
  method: 'GET' | 'POST' | 'DELETE' | null
  /** A request path; a `*` at its end matches everything that starts so. */
  path: string
  times: number
  /** Whether it strikes before the request is executed, or after its work is done and saved. */
  when: 'before' | 'after'
  delayMs: number
  /** The answer of an `error` fault. */
  status: number
}

export class Faults {
  #ordered: Fault[] = []

  order(fault: Fault): void {
    this.#ordered.push({ ...fault })
  }

  clear(): void {
    this.#ordered = []
  }

  list(): readonly Fault[] {
    return this.#ordered
  }

  /** The faults that hit this request; each is counted down. */
  take(method: string, path: string): Fault[] {
    const hits = this.#ordered.filter(
      (fault) =>
        (fault.method === null || fault.method === method) &&
        (fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : fault.path === path),
    )
    for (const fault of hits) fault.times -= 1
    this.#ordered = this.#ordered.filter((fault) => fault.times > 0)
    return hits
  }
}

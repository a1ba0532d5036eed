/** Injected faults: each affects the next `times` API requests of a path. */

export interface Fault {
  kind: 'delay' | 'reset' | 'error'
  method: 'GET' | 'POST' | 'DELETE' | null
  /** A request path; a `*` at its end matches everything that starts so. */
  path: string
  times: number
  /** Whether it happens before the request is executed, or after its effects are saved. */
  when: 'before' | 'after'
  delayMs: number
  /** The status code of an `error` fault. */
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

  /** Returns the faults for this request, and counts each down. */
  take(method: string, path: string): Fault[] {
    const affected = this.#ordered.filter(
      (fault) =>
        (fault.method === null || fault.method === method) &&
        (fault.path.endsWith('*') ? path.startsWith(fault.path.slice(0, -1)) : fault.path === path),
    )
    for (const fault of affected) fault.times -= 1
    this.#ordered = this.#ordered.filter((fault) => fault.times > 0)
    return affected
  }
}

import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { ConnectionPool, databaseOn, type Pool, type Queryable } from '@robokids/runtime/db'
import type { BillingContext } from '../src/config.ts'
import type { Till } from './till.ts'

class Killed extends Error {}

/** The service as a process sees it that is killed after so many steps. */
export class Mortal {
  #left: number
  #isDead = false
  readonly #pool: ConnectionPool
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()
  readonly #till: Till
  context!: BillingContext

  private constructor(till: Till, steps: number) {
    this.#till = till
    this.#left = steps
    const { databaseUrl, context } = till.service
    this.#pool = new ConnectionPool(databaseUrl, { max: 3, application: 'mortal', log: context.log })
  }

  static async live(till: Till, steps: number): Promise<Mortal> {
    const mortal = new Mortal(till, steps)
    await mortal.#listen()
    const { port } = mortal.#server.address() as AddressInfo
    const db = databaseOn(mortal.#watch())
    const { context } = till.service
    mortal.context = {
      ...context,
      db,
      config: { ...context.config, STRIPE_API_URL: `http://127.0.0.1:${port}` },
    }
    return mortal
  }

  get isDead(): boolean {
    return this.#isDead
  }

  /** @returns whether it lives on. */
  #step(): boolean {
    if (!this.#isDead && this.#left-- > 0) return true
    this.#isDead = true
    return false
  }

  /** A step before each statement, and one between a commit and the news of it. */
  #watch(): Pool {
    const watched = (on: Queryable): Queryable => ({
      query: async (statement, values) => {
        const ends = /^(begin|rollback|commit)$/.test(statement.text)
        if (!ends && !this.#step()) throw new Killed()
        const result = await on.query(statement, values)
        if (statement.text === 'commit' && !this.#step()) throw new Killed()
        return result
      },
    })
    return {
      ...watched(this.#pool),
      lease: async () => {
        const lease = await this.#pool.lease()
        return {
          ...watched(lease),
          queryAll: async (statements) => {
            if (!this.#step()) throw new Killed()
            const results = await lease.queryAll(statements)
            if (!this.#step()) throw new Killed()
            return results
          },
          release: () => lease.release(),
        }
      },
    }
  }

  /** The provider's address: a step before each question, and one between its answer and the news of it. */
  async #listen(): Promise<void> {
    this.#server.on('connection', (near) => {
      const far = connect(this.#till.simulator.port, '127.0.0.1')
      for (const socket of [near, far]) {
        this.#sockets.add(socket)
        socket.on('error', () => {})
        socket.on('close', () => {
          this.#sockets.delete(socket)
          near.destroy()
          far.end()
        })
      }
      near.on('data', (question) => (this.#step() ? far.write(question) : near.resetAndDestroy()))
      far.on('data', (answer) => (this.#step() ? near.write(answer) : near.resetAndDestroy()))
    })
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.#pool.close()
  }
}

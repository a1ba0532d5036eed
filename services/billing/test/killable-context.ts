import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { ConnectionPool, databaseOn, type Pool, type Queryable } from '@robokids/runtime/db'
import type { BillingContext } from '../src/config.ts'
import type { BillingFixture } from './fixture.ts'

class Killed extends Error {}

/** The context of a process that is killed after the given number of steps. */
export class KillableContext {
  #left: number
  #isKilled = false
  readonly #pool: ConnectionPool
  readonly #server = createServer()
  readonly #sockets = new Set<Socket>()
  readonly #fixture: BillingFixture
  context!: BillingContext

  private constructor(fixture: BillingFixture, steps: number) {
    this.#fixture = fixture
    this.#left = steps
    const { databaseUrl, context } = fixture.service
    this.#pool = new ConnectionPool(databaseUrl, { max: 3, application: 'killable', log: context.log })
  }

  static async create(fixture: BillingFixture, steps: number): Promise<KillableContext> {
    const killable = new KillableContext(fixture, steps)
    await killable.#listen()
    const { port } = killable.#server.address() as AddressInfo
    const db = databaseOn(killable.#watch())
    const { context } = fixture.service
    killable.context = {
      ...context,
      db,
      config: { ...context.config, STRIPE_API_URL: `http://127.0.0.1:${port}` },
    }
    return killable
  }

  get isKilled(): boolean {
    return this.#isKilled
  }

  /** @returns whether the process is still alive. */
  #step(): boolean {
    if (!this.#isKilled && this.#left-- > 0) return true
    this.#isKilled = true
    return false
  }

  /** Counts a step before each statement, and one between a commit and its result. */
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

  /** Proxies Stripe: counts a step before each request, and one between its processing and the response. */
  async #listen(): Promise<void> {
    this.#server.on('connection', (near) => {
      const far = connect(this.#fixture.simulator.port, '127.0.0.1')
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

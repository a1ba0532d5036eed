import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { ConnectionPool, databaseOn, type Pool, type Queryable } from '@robokids/runtime/db'
import type { BillingContext } from '../src/config.ts'
import type { BillingFixture } from './fixture.ts'

class Killed extends Error {}

/**
 * The context of a process that is killed after the given number of steps. A step is what outlives the process: a commit, or
 * a request that Stripe has processed. Where between two steps it is killed makes no difference, since its open transaction is
 * rolled back.
 */
export class KillableContext {
  #left: number
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
    return this.#left <= 0
  }

  /** @returns whether the process lives to learn of the step. */
  #step(): boolean {
    this.#left -= 1
    return !this.isKilled
  }

  /** Kills the process between a commit and its result. Changes outside of a transaction are committed at once. */
  #watch(): Pool {
    const watched = (on: Queryable): Queryable => {
      let isOpen = false
      return {
        query: async (statement, values) => {
          const { text } = statement
          if (this.isKilled && text !== 'rollback') throw new Killed()
          const result = await on.query(statement, values)
          const commits = text === 'commit' || (!isOpen && !/^\s*(begin|rollback|select)\b/i.test(text))
          if (/^(begin|commit|rollback)$/.test(text)) isOpen = text === 'begin'
          if (commits && !this.#step()) throw new Killed()
          return result
        },
      }
    }
    return {
      ...watched(this.#pool),
      lease: async () => {
        const lease = await this.#pool.lease()
        return {
          ...watched(lease),
          queryAll: async (statements) => {
            if (this.isKilled) throw new Killed()
            const results = await lease.queryAll(statements)
            if (!this.#step()) throw new Killed()
            return results
          },
          release: () => lease.release(),
        }
      },
    }
  }

  /** Proxies Stripe: kills the process between the processing of a request and its response, which may come in pieces. */
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
      let isAnswered = false
      near.on('data', (question) => {
        isAnswered = false
        return this.isKilled ? near.resetAndDestroy() : far.write(question)
      })
      far.on('data', (answer) => {
        const lives = isAnswered ? !this.isKilled : this.#step()
        isAnswered = true
        return lives ? near.write(answer) : near.resetAndDestroy()
      })
    })
    await new Promise<void>((resolve) => void this.#server.listen(0, '127.0.0.1', resolve))
  }

  async end(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy()
    await new Promise((resolve) => this.#server.close(resolve))
    await this.#pool.close()
  }
}

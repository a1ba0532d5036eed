import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { ConnectionPool, databaseOn, type Pool, type Queryable } from '@robokids/runtime/db'
import type { BillingContext } from '../src/config.ts'
import type { Till } from './till.ts'

class Killed extends Error {}

/**
 * The service as a process sees it that is killed after so many steps: a step is what stays of it when it is gone, a commit or
 * an answer of the provider. Between two of them it makes no difference where it is killed: its transaction is undone.
 */
export class Mortal {
  #left: number
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
    return this.#left <= 0
  }

  /** @returns whether it lives to hear of it. */
  #step(): boolean {
    this.#left -= 1
    return !this.isDead
  }

  /** It is killed between a commit and the news of it. What changes outside of a transaction is committed at once. */
  #watch(): Pool {
    const watched = (on: Queryable): Queryable => {
      let isOpen = false
      return {
        query: async (statement, values) => {
          const { text } = statement
          if (this.isDead && text !== 'rollback') throw new Killed()
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
            if (this.isDead) throw new Killed()
            const results = await lease.queryAll(statements)
            if (!this.#step()) throw new Killed()
            return results
          },
          release: () => lease.release(),
        }
      },
    }
  }

  /** The provider's address: it is killed between an answer, of one or more pieces, and the news of it. */
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
      let isAnswered = false
      near.on('data', (question) => {
        isAnswered = false
        return this.isDead ? near.resetAndDestroy() : far.write(question)
      })
      far.on('data', (answer) => {
        const lives = isAnswered ? !this.isDead : this.#step()
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

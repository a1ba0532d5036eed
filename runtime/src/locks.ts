import type { DatabaseConfig } from './config.ts'
import { ConnectionPool, standardTimeouts, type ConnectionLease, type Queryable } from './db.ts'
import type { Logger } from './telemetry.ts'

/** The locks by which processes of one service agree who does a work that only one of them may do at a time. */
export interface Locks extends Queryable {
  /**
   * Runs `work` if no other process is at the same work right now, holding the lock for as long as it runs.
   * @param work is told by its signal when the lock is lost, and should then end: another process may have begun.
   * @returns false where another process has the lock.
   */
  withLock(name: string, work: (lost: AbortSignal) => Promise<void>): Promise<boolean>
  close(): Promise<void>
}

/**
 * Keeps all locks of a process on one connection of their own, so that no work ever waits for a connection that a lock
 * holds. The connection is a lease: the server ends it, and frees the locks, where it hears nothing for `leaseMs`, because
 * the process hangs or its machine is gone; the process learns of it in time, because it asks more often than that.
 * Short statements that must not wait for the pool, however busy it is, may use it as well (`query`).
 */
export function openLocks(config: DatabaseConfig, service: string, log: Logger, leaseMs = 30_000): Locks {
  const askEveryMs = leaseMs / 3
  const pool = new ConnectionPool(config.DATABASE_URL, {
    max: 1,
    application: `${service} locks`,
    log,
    // Two thirds of a lease after the last answer at the latest, the locks count as lost.
    timeouts: { ...standardTimeouts, statement: askEveryMs, answer: askEveryMs },
    parameters: { idle_session_timeout: leaseMs },
  })
  let leasing: Promise<ConnectionLease> | undefined
  let timer: NodeJS.Timeout | undefined

  function lease(): Promise<ConnectionLease> {
    leasing ??= (async () => {
      try {
        const leased = await pool.lease()
        timer = setInterval(() => void leased.query({ text: 'select 1' }).catch(() => {}), askEveryMs)
        leased.lost.addEventListener('abort', () => letGo(leased), { once: true })
        return leased
      } catch (error) {
        leasing = undefined
        throw error
      }
    })()
    return leasing
  }

  function letGo(leased: ConnectionLease): void {
    clearInterval(timer)
    leasing = undefined
    leased.release()
  }

  return {
    async withLock(name, work) {
      const leased = await lease()
      const ask = async (text: string) => {
        const { rows } = await leased.query({ text }, [name])
        return (rows as { answer: boolean }[])[0]?.answer === true
      }
      if (!(await ask('select pg_try_advisory_lock(hashtext($1)) as answer'))) return false
      try {
        await work(leased.lost)
        return true
      } finally {
        // With a lost connection, the lock is gone as well.
        if (!leased.lost.aborted) await ask('select pg_advisory_unlock(hashtext($1)) as answer').catch(() => {})
      }
    },
    async query(statement, values) {
      const leased = await lease()
      return leased.query(statement, values)
    },
    async close() {
      const leased = await leasing?.catch(() => undefined)
      if (leased) letGo(leased)
      await pool.close()
    },
  }
}

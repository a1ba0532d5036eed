import type { DatabaseConfig } from './config.ts'
import { ConnectionPool, standardTimeouts, type ConnectionLease, type Queryable } from './db.ts'
import type { Logger } from './telemetry.ts'

/** Locks between the processes of a service, for work that only one of them may do at a time. */
export interface Locks extends Queryable {
  /**
   * Runs `work` while holding the lock, unless another process holds it.
   * @param work must end when its signal aborts: the lock is lost, and another process may have started.
   * @returns false if another process holds the lock.
   */
  withLock(name: string, work: (lost: AbortSignal) => Promise<void>): Promise<boolean>
  close(): Promise<void>
}

/**
 * Holds all locks of a process on one separate connection, so that locks take no connections from the pool. The connection is
 * a lease: if the server receives nothing for `leaseMs`, because the process hangs or its machine is gone, it closes the
 * connection and frees the locks. The process pings more often than that, so it notices the loss in time. Short statements
 * that must not wait for the pool can use the connection too (`query`).
 */
export function openLocks(config: DatabaseConfig, service: string, log: Logger, leaseMs = 30_000): Locks {
  const pingIntervalMs = leaseMs / 3
  const pool = new ConnectionPool(config.DATABASE_URL, {
    max: 1,
    application: `${service} locks`,
    log,
    // The locks count as lost at most two thirds of a lease after the last response.
    timeouts: { ...standardTimeouts, statement: pingIntervalMs, response: pingIntervalMs },
    parameters: { idle_session_timeout: leaseMs },
  })
  let pendingLease: Promise<ConnectionLease> | undefined
  let timer: NodeJS.Timeout | undefined

  function lease(): Promise<ConnectionLease> {
    pendingLease ??= (async () => {
      try {
        const leased = await pool.lease()
        timer = setInterval(() => void leased.query({ text: 'select 1' }).catch(() => {}), pingIntervalMs)
        leased.lost.addEventListener('abort', () => dropLease(leased), { once: true })
        return leased
      } catch (error) {
        pendingLease = undefined
        throw error
      }
    })()
    return pendingLease
  }

  function dropLease(leased: ConnectionLease): void {
    clearInterval(timer)
    pendingLease = undefined
    leased.release()
  }

  return {
    async withLock(name, work) {
      const leased = await lease()
      const queryLock = async (text: string) => {
        const { rows } = await leased.query({ text }, [name])
        return (rows as { answer: boolean }[])[0]?.answer === true
      }
      if (!(await queryLock('select pg_try_advisory_lock(hashtext($1)) as answer'))) return false
      try {
        await work(leased.lost)
        return true
      } finally {
        // A lost connection has released the lock already.
        if (!leased.lost.aborted) await queryLock('select pg_advisory_unlock(hashtext($1)) as answer').catch(() => {})
      }
    },
    async query(statement, values) {
      const leased = await lease()
      return leased.query(statement, values)
    },
    async close() {
      const leased = await pendingLease?.catch(() => undefined)
      if (leased) dropLease(leased)
      await pool.close()
    },
  }
}

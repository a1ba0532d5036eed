import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { randomUUIDv7 } from 'node:crypto'
import { ensureDatabase } from '@robokids/local/postgres'
import {
  connect,
  runTogether,
  standardTimeouts,
  wakeJob,
  type Connection,
  type Transaction,
} from '@robokids/runtime/db'
import { isConnectionError, sqlState } from '@robokids/runtime/errors'
import { openLocks, type Locks } from '@robokids/runtime/locks'
import { prepareDatabase } from '@robokids/runtime/prepare-database'
import { createLogger, type Logger } from '@robokids/runtime/telemetry'
import { eventually } from '@robokids/test/bed'
import { breakableProxy, type BreakableProxy } from '@robokids/test/breakable-proxy'
import { sql } from 'drizzle-orm'
import { integer, pgTable } from 'drizzle-orm/pg-core'
import postgres from 'postgres'
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest'

/**
 * A broken connection must not affect other work. Each test has its own pool on a real server, with a proxy in between if the
 * network has to break.
 */

const log = createLogger('test', 'silent')
let databaseUrl: string
let admin: postgres.Sql
let proxy: BreakableProxy
beforeAll(async () => {
  databaseUrl = await ensureDatabase(inject('postgresUrl'), `test_${randomUUIDv7().replaceAll('-', '')}`)
  admin = postgres(databaseUrl, { max: 4, onnotice: () => {} })
  await admin`create table entries (test text, who text)`
  await admin.unsafe(`
    create table deferred (test text);
    create function slowly() returns trigger language plpgsql as $$ begin perform pg_sleep(0.5); return null; end $$;
    create constraint trigger slowly after insert on deferred deferrable initially deferred
      for each row execute function slowly()`)
  proxy = await breakableProxy(Number(new URL(databaseUrl).port))
})
afterAll(async () => {
  await proxy.stop()
  await admin.end({ timeout: 1 })
})

const opened: { close(): Promise<void> }[] = []
afterEach(async () => {
  proxy.resume()
  proxy.intercept(undefined)
  await Promise.all(opened.splice(0).map((connection) => connection.close()))
})
function keep<T extends { close(): Promise<void> }>(connection: T): T {
  opened.push(connection)
  return connection
}

function throughProxy(): string {
  const url = new URL(databaseUrl)
  url.port = String(proxy.port)
  return url.href
}
/** The server lists a pool's connections under its test's name. */
const open = (test: string, pool = 10, url = databaseUrl, timeouts = standardTimeouts): Connection =>
  keep(connect({ DATABASE_URL: url, DATABASE_POOL: pool }, test, log, timeouts))
const newTest = () => `t${randomUUIDv7()}`

async function pidOf(tx: Transaction): Promise<number> {
  const { rows } = await tx.execute<{ pid: number }>(sql`select pg_backend_pid() as pid`)
  return rows[0]?.pid ?? 0
}
/** Resolves when the backend has ended; the client may learn of it a moment later. */
async function kill(pid: number): Promise<void> {
  await admin`select pg_terminate_backend(${pid}, 5000)`
}
const enter = (tx: Transaction, test: string, who: string) =>
  tx.execute(sql`insert into entries values (${test}, ${who})`)
const entriesOf = async (test: string) =>
  (await admin<{ who: string }[]>`select who from entries where test = ${test} order by who`).map(({ who }) => who)
const failureOf = (work: Promise<unknown>): Promise<Error> =>
  work.then(
    () => {
      throw new Error('It did not fail.')
    },
    (error: Error) => error,
  )
/** Waits until a statement of the test is sleeping. @returns its backend's pid. */
const isSleeping = (test: string) =>
  eventually(async () => {
    const [found] = await admin`
      select pid from pg_stat_activity where application_name = ${test} and state = 'active' and wait_event = 'PgSleep'`
    return found?.['pid'] as number | undefined
  })
async function goesOn({ db }: Connection): Promise<void> {
  const { rows } = await db.execute(sql`select 'well' as state`)
  expect(rows).toEqual([{ state: 'well' }])
  const all = Array.from({ length: 20 }, async (_, index) => {
    const rows = await db.transaction(async (tx) => (await tx.execute(sql`select ${index}::int as index`)).rows)
    expect(rows).toEqual([{ index }])
  })
  await Promise.all(all)
}

describe('a transaction whose backend is terminated', () => {
  const cases: [string, (tx: Transaction, test: string) => Promise<void>][] = [
    [
      'during a statement',
      async (tx, test) => {
        await enter(tx, test, 'dead')
        const pid = await pidOf(tx)
        await Promise.all([tx.execute(sql`select pg_sleep(30)`), isSleeping(test).then(() => kill(pid))])
      },
    ],
    [
      'between two statements',
      async (tx, test) => {
        await enter(tx, test, 'dead')
        await kill(await pidOf(tx))
        await enter(tx, test, 'dead')
      },
    ],
    [
      'after its last statement',
      async (tx, test) => {
        await enter(tx, test, 'dead')
        await kill(await pidOf(tx))
      },
    ],
    [
      'while it commits',
      async (tx, test) => {
        await enter(tx, test, 'dead')
        const pid = await pidOf(tx)
        await tx.execute(sql`insert into deferred values (${test})`)
        void isSleeping(test).then(() => kill(pid))
      },
    ],
    [
      'while several statements are queued',
      async (tx, test) => {
        await enter(tx, test, 'dead')
        const pid = await pidOf(tx)
        await Promise.all([
          tx.execute(sql`select pg_sleep(30)`),
          tx.execute(sql`select 2`),
          enter(tx, test, 'dead'),
          isSleeping(test).then(() => kill(pid)),
        ])
      },
    ],
    [
      'within a savepoint',
      async (tx, test) => {
        const pid = await pidOf(tx)
        await tx.transaction(async (inner) => {
          await enter(inner, test, 'dead')
          await kill(pid)
          await enter(inner, test, 'dead')
        })
      },
    ],
    [
      'by the idle transaction timeout',
      async (tx, test) => {
        await tx.execute(sql`set local idle_in_transaction_session_timeout = 50`)
        await enter(tx, test, 'dead')
        const pid = await pidOf(tx)
        await eventually(async () => (await admin`select 1 from pg_stat_activity where pid = ${pid}`).length === 0)
        await enter(tx, test, 'dead')
      },
    ],
    [
      'by the transaction timeout',
      async (tx, test) => {
        await tx.execute(sql`set local transaction_timeout = 100`)
        await enter(tx, test, 'dead')
        await tx.execute(sql`select pg_sleep(30)`)
      },
    ],
  ]
  it.each(cases)('%s is rolled back, and the pool keeps working', async (_case, work) => {
    const test = newTest()
    const connection = open(test, 3)
    expect(isConnectionError(await failureOf(connection.db.transaction((tx) => work(tx, test))))).toBe(true)
    expect(await entriesOf(test)).toEqual([])
    await goesOn(connection)
  })

  it('is not a connection error if only a statement timed out', async () => {
    const test = newTest()
    const connection = open(test, 1)
    const failure = await failureOf(
      connection.db.transaction(async (tx) => {
        await enter(tx, test, 'dead')
        await tx.execute(sql`set local statement_timeout = 50`)
        await tx.execute(sql`select pg_sleep(30)`)
      }),
    )
    expect([isConnectionError(failure), sqlState(failure)]).toEqual([false, '57014'])
    expect(await entriesOf(test)).toEqual([])
    await goesOn(connection)
  })
})

describe('a transaction whose connection dies while others wait for one', () => {
  /** Fills the pool, kills one transaction, and lets another one take its connection slot before the dead one continues. */
  async function overtaken(
    pool: number,
    deadGoesOn: (tx: Transaction, test: string) => Promise<void>,
    livingEnds: () => void = () => {},
  ) {
    const test = newTest()
    const { db } = open(test, pool)
    const holding = Promise.withResolvers<void>()
    const holders = Array.from({ length: pool - 1 }, () =>
      db.transaction(async (tx) => {
        await pidOf(tx)
        await holding.promise
      }),
    )
    const livingBegun = Promise.withResolvers<void>()
    const deadDone = Promise.withResolvers<void>()
    const dead = db.transaction(async (tx) => {
      await enter(tx, test, 'dead')
      await kill(await pidOf(tx))
      // By now the driver has noticed, so a waiting transaction may start: the pool is full, so only in the dead one's slot.
      await Promise.race([livingBegun.promise, failureOf(Promise.resolve(tx.execute(sql`select 1`)))])
      await deadGoesOn(tx, test)
    })
    const living = db.transaction(async (tx) => {
      await enter(tx, test, 'living 1')
      livingBegun.resolve()
      await deadDone.promise
      await enter(tx, test, 'living 2')
      livingEnds()
    })
    const failure = await failureOf(dead)
    deadDone.resolve()
    const outcome = await living.then(
      () => 'committed',
      (error: Error) => error.message,
    )
    holding.resolve()
    await Promise.all(holders)
    return { failure, outcome, entries: await entriesOf(test) }
  }

  it.each([1, 2])('never runs a statement in another transaction (pool of %i)', async (pool) => {
    const { failure, outcome, entries } = await overtaken(pool, async (tx, test) => {
      await enter(tx, test, 'dead')
    })
    expect(isConnectionError(failure)).toBe(true)
    expect([outcome, entries]).toEqual(['committed', ['living 1', 'living 2']])
  })

  it.each([1, 2])('never rolls another transaction back (pool of %i)', async (pool) => {
    const { failure, outcome, entries } = await overtaken(pool, async () => {
      throw new Error('a domain error')
    })
    expect(failure.message).toBe('a domain error')
    expect([outcome, entries]).toEqual(['committed', ['living 1', 'living 2']])
  })

  it.each([1, 2])('never commits another transaction (pool of %i)', async (pool) => {
    const { failure, outcome, entries } = await overtaken(
      pool,
      async () => {},
      () => {
        throw new Error('cancelled')
      },
    )
    expect(isConnectionError(failure)).toBe(true)
    expect([outcome, entries]).toEqual(['cancelled', []])
  })
})

describe('a transaction', () => {
  it('runs no statement after its end', async () => {
    const test = newTest()
    const { db } = open(test, 1)
    const escaped = await db.transaction(async (tx) => tx)
    const failure = await failureOf(Promise.resolve(enter(escaped, test, 'late')))
    expect(failure.cause).toMatchObject({ message: expect.stringContaining('has ended') })
    expect(await entriesOf(test)).toEqual([])
  })

  it('rejects if a failed statement rolled it back, even when the error was ignored', async () => {
    const test = newTest()
    const { db } = open(test, 1)
    const failure = await failureOf(
      db.transaction(async (tx) => {
        await enter(tx, test, 'one')
        await failureOf(Promise.resolve(tx.execute(sql`select 1 / 0`)))
      }),
    )
    expect(failure.message).toContain('rolled back')
    expect(await entriesOf(test)).toEqual([])
  })

  it('keeps its changes outside of a savepoint that is rolled back', async () => {
    const test = newTest()
    await open(test, 1).db.transaction(async (tx) => {
      await enter(tx, test, 'a')
      await failureOf(
        tx.transaction(async (inner) => {
          await enter(inner, test, 'b')
          throw new Error('back')
        }),
      )
      await enter(tx, test, 'c')
    })
    expect(await entriesOf(test)).toEqual(['a', 'c'])
  })

  it('gives each of several concurrent statements its own rows', async () => {
    const rows = await open(newTest(), 1).db.transaction((tx) =>
      Promise.all([1, 2, 3, 4].map(async (n) => (await tx.execute(sql`select ${n}::int as n`)).rows)),
    )
    expect(rows).toEqual([[{ n: 1 }], [{ n: 2 }], [{ n: 3 }], [{ n: 4 }]])
  })
})

describe('two databases in one process', () => {
  it('can have tables of the same name with different columns', async () => {
    const [one, other] = [open(newTest()), open(newTest())]
    const table = `t${randomUUIDv7().replaceAll('-', '')}`
    await admin.unsafe(`create table ${table} (first int, second int); insert into ${table} values (1, 2)`)
    expect(await one.db.select().from(pgTable(table, { first: integer() }))).toEqual([{ first: 1 }])
    expect(await other.db.select().from(pgTable(table, { second: integer() }))).toEqual([{ second: 2 }])
  })
})

describe('a connection that is reset', () => {
  it('loses no slot of the pool, and the next statements get their own rows', async () => {
    const test = newTest()
    const connection = open(test, 2, throughProxy())
    for (let round = 0; round < 4; round += 1) {
      const failure = failureOf(
        connection.db.transaction(async (tx) => {
          await enter(tx, test, 'dead')
          await tx.execute(sql`select pg_sleep(30)`)
        }),
      )
      const pid = await isSleeping(test)
      proxy.reset()
      expect(isConnectionError(await failure)).toBe(true)
      await kill(pid)
      await goesOn(connection)
    }
    expect(await entriesOf(test)).toEqual([])
  })

  it('leaves no concurrent query waiting forever', async () => {
    const { db } = open(newTest(), 4, throughProxy())
    let outcomes = 0
    let on = true
    const asking = Array.from({ length: 16 }, async () => {
      while (on) {
        await db.execute(sql`select pg_sleep(0.005)`).catch((error: unknown) => {
          if (!isConnectionError(error)) throw error
        })
        outcomes += 1
      }
    })
    for (let round = 1; round <= 8; round += 1) {
      await eventually(() => outcomes > round * 40)
      proxy.reset()
    }
    await eventually(() => outcomes > 500)
    on = false
    await Promise.all(asking)
  })

  it('rejects a commit with a connection error, whether it took effect or not', async () => {
    const test = newTest()
    const { db } = open(test, 1, throughProxy())
    const failure = failureOf(
      db.transaction(async (tx) => {
        await enter(tx, test, 'perhaps')
        await tx.execute(sql`insert into deferred values (${test})`)
      }),
    )
    await isSleeping(test)
    proxy.reset()
    expect(isConnectionError(await failure)).toBe(true)
    // Here it took effect; idempotency keys and the inbox allow for that.
    await eventually(async () => (await entriesOf(test)).length === 1)
  })

  it('rejects a query with a connection error if it breaks while connecting', async () => {
    proxy.intercept(() => true)
    const connection = open(newTest(), 2, throughProxy())
    expect(isConnectionError(await failureOf(Promise.resolve(connection.db.execute(sql`select 1`))))).toBe(true)
    proxy.intercept(undefined)
    await goesOn(connection)
  })
})

describe('a server that ends all connections at once', () => {
  it('makes running queries of a busy pool fail and later ones succeed', async () => {
    const test = newTest()
    const { db } = open(test, 10)
    const tally = { answered: 0, failed: 0 }
    let on = true
    const asking = Array.from({ length: 40 }, async () => {
      while (on) {
        try {
          await db.transaction(async (tx) => {
            await tx.execute(sql`select 1`)
            await tx.execute(sql`select pg_sleep(0.01)`)
          })
          tally.answered += 1
        } catch (error) {
          if (!isConnectionError(error)) throw error
          tally.failed += 1
        }
      }
    })
    for (let round = 1; round <= 5; round += 1) {
      const before = tally.answered
      await eventually(() => tally.answered > before + 50)
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${test}`
    }
    const before = tally.answered
    await eventually(() => tally.answered > before + 200)
    on = false
    await Promise.all(asking)
    expect(tally.failed).toBeGreaterThan(0)
    const [{ count } = { count: 0 }] = await admin<{ count: number }[]>`
      select count(*)::int as count from pg_stat_activity where application_name = ${test}`
    expect(count).toBeLessThanOrEqual(10)
  })
})

describe('a result', () => {
  const one = pgTable('one', { n: integer() })
  beforeAll(async () => {
    await admin`create table one (n int)`
    await admin`insert into one values (42)`
    await admin`create table many (n int primary key, filler text)`
    await admin`insert into many select n, repeat('x', 3000) from generate_series(1, 60) n`
  })
  const broken: [string, (connection: Connection, test: string) => Promise<unknown>][] = [
    [
      'an error in the middle of a result',
      ({ db }) => db.execute(sql`select 1 / (4 - n) from generate_series(1, 9) n`),
    ],
    [
      'a statement timeout in the middle of a result',
      ({ db }) =>
        db.transaction(async (tx) => {
          await tx.execute(sql`set local statement_timeout = 100`)
          await tx.execute(sql`select filler, case when n > 50 then pg_sleep(1) end from many order by n`)
        }),
    ],
    [
      'a lock timeout in the middle of a result',
      async ({ db }) =>
        admin.begin(async (holder) => {
          await holder`select 1 from many where n = 12 for update`
          await db.transaction(async (tx) => {
            await tx.execute(sql`set local lock_timeout = 100`)
            await tx.execute(sql`select * from many order by n for update`)
          })
        }),
    ],
    [
      'the end of the connection in the middle of a result',
      async ({ db }, test) => {
        const asked = db.execute(sql`select filler, case when n > 50 then pg_sleep(30) end from many order by n`)
        await Promise.all([asked, isSleeping(test).then(kill)])
      },
    ],
  ]
  it.each(broken)('after %s has only the rows of its own statement', async (_what, breaks) => {
    const test = newTest()
    const connection = open(test, 1)
    await failureOf(breaks(connection, test))
    expect(await connection.db.select().from(one)).toEqual([{ n: 42 }])
    expect(await connection.db.$count(one)).toBe(1)
    expect((await connection.db.execute(sql`select 7 as x`)).rows).toEqual([{ x: 7 }])
  })
})

describe('a network that fails silently', () => {
  it('makes a query fail after the timeout, and the pool works again when the network is back', async () => {
    const timeouts = { ...standardTimeouts, connect: 300, response: 300 }
    const connection = open(newTest(), 2, throughProxy(), timeouts)
    await connection.db.execute(sql`select 1`)
    proxy.stall()
    expect(isConnectionError(await failureOf(Promise.resolve(connection.db.execute(sql`select 1`))))).toBe(true)
    const inTransaction = connection.db.transaction((tx) => tx.execute(sql`select 1`))
    expect(isConnectionError(await failureOf(inTransaction))).toBe(true)
    proxy.resume()
    await goesOn(connection)
  })
})

describe('an exhausted pool', () => {
  it('rejects a query after the connect timeout', async () => {
    const { db } = open(newTest(), 1, databaseUrl, { ...standardTimeouts, connect: 100 })
    await db.transaction(async () => {
      const failure = await failureOf(Promise.resolve(db.execute(sql`select 1`)))
      expect(isConnectionError(failure)).toBe(true)
    })
    await db.execute(sql`select 1`)
  })
})

describe('a prepared statement', () => {
  const prepared = ({ db }: Connection, seconds = 0) =>
    runTogether<{ state: string }>(db, {
      [`sleep_${seconds}`]: sql`select 'well' as state from pg_sleep(${seconds}::float8)`,
    })

  it('is prepared again on the connection that replaces a lost one', async () => {
    const test = newTest()
    const connection = open(test, 1)
    expect(await prepared(connection)).toEqual([{ state: 'well' }])
    const failure = failureOf(prepared(connection, 30))
    await kill(await isSleeping(test))
    expect(isConnectionError(await failure)).toBe(true)
    expect(await prepared(connection)).toEqual([{ state: 'well' }])
  })

  it.each(['terminated', 'reset'])('gets a connection when the one it waits for is %s', async (how) => {
    const test = newTest()
    const connection = open(test, 1, throughProxy())
    const busy = failureOf(Promise.resolve(connection.db.execute(sql`select pg_sleep(30)`)))
    const pid = await isSleeping(test)
    const waiting = [1, 2, 3].map(() => prepared(connection))
    if (how === 'reset') proxy.reset()
    await kill(pid)
    expect(isConnectionError(await busy)).toBe(true)
    const well = [{ state: 'well' }]
    expect(await Promise.all(waiting)).toEqual([well, well, well])
  })
})

describe('a host name that cannot be resolved', () => {
  const nowhere = { DATABASE_URL: 'postgres://postgres@no-such-host.invalid:5432/x', DATABASE_POOL: 2 }

  it('counts as a connection error', async () => {
    const { db } = keep(connect(nowhere, 'nowhere', log))
    expect(isConnectionError(await failureOf(Promise.resolve(db.execute(sql`select 1`))))).toBe(true)
  })

  it('is retried when a service starts', async () => {
    const warnings: string[] = []
    const warn = (_about: unknown, message: string) => warnings.push(message)
    const observed = { ...log, warn, debug() {} } as unknown as Logger
    const folder = fileURLToPath(new URL('./fixture', import.meta.url))
    await failureOf(prepareDatabase(nowhere, folder, observed, undefined, 1_500))
    expect(warnings.length).toBeGreaterThanOrEqual(2)
    expect(new Set(warnings)).toEqual(new Set(['waiting for the database']))
  })
})

describe('prepareDatabase', () => {
  it('starts over if its backend is terminated', async () => {
    const url = await ensureDatabase(inject('postgresUrl'), newTest())
    const folder = fileURLToPath(new URL('./fixture', import.meta.url))
    let seeds = 0
    await prepareDatabase({ DATABASE_URL: url, DATABASE_POOL: 2 }, folder, log, async (db) => {
      seeds += 1
      if (seeds === 1) await db.transaction(async (tx) => kill(await pidOf(tx)))
    })
    expect(seeds).toBe(2)
  })
})

describe('listening', () => {
  it('resumes after its connection was lost and reports that notifications may be missing', async () => {
    const test = newTest()
    const connection = open(test, 2, throughProxy())
    const heard: (string | undefined)[] = []
    await connection.listen((name) => heard.push(name))
    expect(heard).toEqual([undefined])
    for (const [round, breaks] of [
      () =>
        admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`${test} listener`}`,
      async () => proxy.reset(),
      async () => {
        await proxy.refuse()
        await proxy.accept()
      },
    ].entries()) {
      await breaks()
      await eventually(() => heard.filter((name) => name === undefined).length === round + 2)
      await connection.db.transaction((tx) => wakeJob(tx, `after ${round}`)).catch(() => {})
      await eventually(async () => {
        if (heard.includes(`after ${round}`)) return true
        await wakeJob(connection.db, `after ${round}`)
        return false
      })
    }
  })
})

describe('a lock', () => {
  const leaseMs = 900
  const openedFor = (test: string, url = databaseUrl): Locks =>
    keep(openLocks({ DATABASE_URL: url, DATABASE_POOL: 2 }, test, log, leaseMs))
  const take = (locks: Locks, name = 'work') => locks.withLock(name, async () => {})

  it('is held by one process at a time, for as long as the work takes', async () => {
    const [one, other] = [openedFor(newTest()), openedFor(newTest())]
    const name = newTest()
    const held = await one.withLock(name, async (lost) => {
      // Longer than the lease: a live process keeps the lock.
      const until = performance.now() + leaseMs * 2
      await eventually(async () => {
        expect(await take(other, name)).toBe(false)
        return performance.now() > until
      })
      expect(lost.aborted).toBe(false)
    })
    expect(held).toBe(true)
    expect(await take(other, name)).toBe(true)
  })

  it('aborts the work when its connection is lost, and can be taken again by any process', async () => {
    const test = newTest()
    const [one, other] = [openedFor(test), openedFor(newTest())]
    const name = newTest()
    await one.withLock(name, async (lost) => {
      await admin`select pg_terminate_backend(pid) from pg_stat_activity where application_name = ${`${test} locks`}`
      await eventually(() => lost.aborted)
      expect(await take(other, name)).toBe(true)
    })
    expect(await take(one, name)).toBe(true)
  })

  it('aborts the work before another process can take it if the network fails silently', async () => {
    const test = newTest()
    const [one, other] = [openedFor(test, throughProxy()), openedFor(newTest())]
    const name = newTest()
    await one.withLock(name, async (lost) => {
      proxy.stall()
      let abortedFirst = false
      await eventually(async () => {
        abortedFirst = lost.aborted
        return take(other, name)
      })
      expect(abortedFirst).toBe(true)
    })
  })

  it('of a process that hangs is released after its lease', async () => {
    const script = fileURLToPath(new URL('./hold-lock.ts', import.meta.url))
    const holder = spawn(process.execPath, [script, databaseUrl, String(leaseMs)], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    let printed = ''
    holder.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
    try {
      await eventually(() => printed.includes('held'), 30_000)
      const other = openedFor(newTest())
      expect(await take(other)).toBe(false)
      holder.kill('SIGSTOP')
      await eventually(() => take(other))
      holder.kill('SIGCONT')
      await eventually(() => printed.includes('lost'))
    } finally {
      const ended = once(holder, 'exit')
      holder.kill('SIGKILL')
      await ended
    }
  })
})

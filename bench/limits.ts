import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startNats } from '@robokids/local/nats'
import { startPostgres } from '@robokids/local/postgres'
import { freePort } from '@robokids/local/processes'
import { ClientCounts } from '@robokids/runtime/client-counts'
import { localNatsPassword } from '@robokids/runtime/config'
import { operatorUser } from '@robokids/runtime/streams'
import { connectAsOperator } from '@robokids/test/operator-bus'
import { connect as connectNats, NatsError, type KV } from 'nats'
import postgres from 'postgres'
import { closedLoop, figuresOf, printSurroundings, steadily, type Figures } from './measure.ts'

/** What it costs a request to be counted over all copies of the BFF, by the ways there are, and how late another copy knows. */
const newFolder = () => mkdtemp(join(tmpdir(), 'robokids-bench-'))
const folders = [await newFolder(), await newFolder()] as const
const database = await startPostgres({ dataDir: folders[0], port: await freePort() })
const nats = await startNats({ dataDir: folders[1], port: await freePort() })
const buses = [await connectAsOperator(nats, 'bench'), await connectAsOperator(nats, 'bench')] as const
const context = (bus: (typeof buses)[number]) =>
  ({ bus, config: { ADMIN_SECRET: 'a-secret-of-the-bench' } }) as ConstructorParameters<typeof ClientCounts>[1]
const [own, other] = [new ClientCounts('bench', context(buses[0])), new ClientCounts('bench', context(buses[1]))]
const sql = postgres(database.url, { max: 10, onnotice: () => {} })
await sql`create table limits (key text primary key, count integer not null)`
const connection = await connectNats({ servers: nats.url, user: operatorUser, pass: localNatsPassword })
const keys = await connection.jetstream().views.kv('bench', { ttl: 600_000 })
const hourMs = 3_600_000

async function countInBucket(kv: KV, client: string): Promise<void> {
  for (;;) {
    const known = await kv.get(client)
    try {
      if (known) await kv.update(client, String(Number(known.string()) + 1), known.revision)
      else await kv.create(client, '1')
      return
    } catch (error) {
      // Another request was counted in between.
      if (!(error instanceof NatsError) || error.api_error?.err_code !== 10_071) throw error
    }
  }
}

/** How long it takes until the other copy knows of a count, at a pace. */
async function delays(rate: number, count: number): Promise<Figures> {
  const late: number[] = []
  const begun = performance.now()
  await steadily(rate, count, async (index) => {
    const client = `late ${rate} ${index}`
    const from = performance.now()
    own.add(client, hourMs)
    while (other.of(client) === 0) await new Promise((resolve) => setTimeout(resolve, 1))
    late.push(performance.now() - from)
  })
  return figuresOf(late, performance.now() - begun)
}

const ways: [string, () => Promise<Figures>][] = [
  [
    'counted here, told to the others',
    () => closedLoop(10, 100_000, async (worker) => void own.add(`client ${worker}`, hourMs)),
  ],
  ['NATS key-value, ten clients', () => closedLoop(10, 5_000, (worker) => countInBucket(keys, `client-${worker}`))],
  ['NATS key-value, one client', () => closedLoop(10, 1_000, () => countInBucket(keys, 'client'))],
  ['PostgreSQL, ten clients', () => closedLoop(10, 5_000, (worker) => countInTable(`client ${worker}`))],
  ['PostgreSQL, one client', () => closedLoop(10, 1_000, () => countInTable('client'))],
  [
    'a proof claimed',
    () =>
      closedLoop(
        10,
        5_000,
        async () => void (await buses[0].claim({ name: 'proofs', forMs: hourMs }, crypto.randomUUID())),
      ),
  ],
  ['known to the other copy, 5/s', () => delays(5, 50)],
  ['known to the other copy, 500/s', () => delays(500, 2_000)],
]

async function countInTable(client: string): Promise<void> {
  await sql`insert into limits values (${client}, 1) on conflict (key) do update set count = limits.count + 1`
}

try {
  printSurroundings('nats-server and PostgreSQL of this machine')
  for (const [name, measure] of ways) {
    const { p50, p99 } = await measure()
    console.log(`${name.padEnd(36)} p50 ${p50.toFixed(3)} ms, p99 ${p99.toFixed(3)} ms`)
  }
} finally {
  await Promise.all([...buses.map((bus) => bus.close()), connection.close(), sql.end()])
  await Promise.all([database.stop(), nats.stop()])
  for (const folder of folders) await rm(folder, { recursive: true, force: true })
}

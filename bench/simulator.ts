import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { alternate, closedLoop, printResults, printSurroundings, type Phase } from './measure.ts'

const { values } = parseArgs({ options: { quick: { type: 'boolean', default: false } } })
const rounds = values.quick ? 1 : 5
const sales = values.quick ? 20 : 200
/** How many sales the state file holds already. */
const sizes = values.quick ? [0, 500] : [0, 5000, 100_000]

const main = fileURLToPath(new URL('../deploy/stripe-simulator/src/main.ts', import.meta.url))
const dataDir = await mkdtemp(join(tmpdir(), 'robokids-bench-'))
const hook = createServer((request, response) => request.resume().on('end', () => response.end()))
hook.listen(0, '127.0.0.1')
await once(hook, 'listening')
const children: ChildProcess[] = []

/** A simulator in a process of its own, with or without a file. */
async function start(stateFile: string): Promise<{ url: string; child: ChildProcess; startMs: number }> {
  const begun = performance.now()
  const WEBHOOK_URL = `http://127.0.0.1:${(hook.address() as AddressInfo).port}/`
  const env = { ...process.env, PORT: '0', STATE_FILE: stateFile, WEBHOOK_URL, WEBHOOK_SECRET: 'whsec_bench' }
  const child = spawn(process.execPath, [main], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  for await (const line of createInterface(child.stdout)) {
    const url = /http:\S+/.exec(line)?.[0]
    if (url !== undefined) return { url, child, startMs: performance.now() - begun }
  }
  throw new Error('The simulator did not start.')
}

async function post(url: string, type: string, body: string): Promise<Record<string, unknown>> {
  const headers = {
    'content-type': type,
    authorization: 'Bearer sk_test_bench',
    'idempotency-key': crypto.randomUUID(),
  }
  const answer = await fetch(url, { method: 'POST', headers, body })
  if (answer.status !== 200) throw new Error(`${url} was answered ${answer.status} ${await answer.text()}`)
  return (await answer.json()) as Record<string, unknown>
}

/** A session and its payment, with five events for the webhook. */
async function sell(url: string): Promise<void> {
  const form = new URLSearchParams({
    mode: 'payment',
    customer_creation: 'always',
    success_url: 'http://localhost:3000/success',
    'line_items[0][quantity]': '1',
    'line_items[0][price_data][currency]': 'usd',
    'line_items[0][price_data][unit_amount]': '40000',
    'line_items[0][price_data][product_data][name]': 'Robotics Foundations',
  })
  const { id } = await post(`${url}/v1/checkout/sessions`, 'application/x-www-form-urlencoded', form.toString())
  const paid = await post(`${url}/_sim/checkout/${String(id)}/pay`, 'application/json', '{"card":"4242424242424242"}')
  if (paid['status'] !== 'paid') throw new Error(`A sale ended as ${String(paid['status'])}.`)
}

/** A state file that holds a real sale so many times over, under other ids. */
async function filled(count: number): Promise<string> {
  const file = join(dataDir, `${count}.db`)
  const { url, child } = await start(file)
  if (count > 0) await sell(url)
  child.kill('SIGTERM')
  await once(child, 'exit')
  if (count === 0) return file
  const database = new DatabaseSync(file)
  const rows = database
    .prepare("SELECT kind, key, value FROM record WHERE kind <> 'endpoints' ORDER BY number")
    .all() as unknown as { kind: string; key: string; value: string }[]
  const keys = new RegExp(rows.map(({ key }) => key).join('|'), 'g')
  const add = database.prepare('INSERT INTO record (kind, key, value) VALUES (?, ?, ?)')
  database.exec('PRAGMA synchronous = OFF; BEGIN')
  for (let copy = 1; copy < count; copy += 1) {
    const renamed = (text: string) => text.replace(keys, (key) => key.slice(0, -6) + String(copy).padStart(6, '0'))
    for (const { kind, key, value } of rows) add.run(kind, renamed(key), renamed(value))
  }
  database.exec('COMMIT')
  database.close()
  return file
}

try {
  printSurroundings(`SQLite ${process.versions.sqlite}`)
  const phases: Phase[] = []
  const add = (name: string, url: string) =>
    phases.push({ name, peer: 'in memory', run: () => closedLoop(1, sales, () => sell(url)) })
  add('in memory', (await start('')).url)
  for (const size of sizes) {
    const file = await filled(size)
    const { url, startMs } = await start(file)
    console.log(`With ${size} sales in its file it starts in ${(startMs / 1000).toFixed(1)} s.`)
    add(`in a file, after ${size}`, url)
  }
  printResults('sales, one by one', phases, await alternate(phases, rounds))
} finally {
  for (const child of children) child.kill('SIGKILL')
  hook.close()
  await rm(dataDir, { recursive: true })
}

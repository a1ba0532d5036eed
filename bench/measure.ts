import { availableParallelism, loadavg } from 'node:os'

/** What one phase of a run showed. Latencies are in milliseconds. */
export interface Figures {
  perSecond: number
  p50: number
  p99: number
}

/** The smallest value that `share` of all values do not exceed. */
function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('There is nothing to take a percentile of.')
  return value
}

export function median(values: number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.slice(Math.floor((sorted.length - 1) / 2), Math.floor(sorted.length / 2) + 1)
  return middle.reduce((sum, value) => sum + value, 0) / middle.length
}

export function figuresOf(latencies: number[], elapsedMs: number): Figures {
  return {
    perSecond: (latencies.length / elapsedMs) * 1000,
    p50: percentile(latencies, 0.5),
    p99: percentile(latencies, 0.99),
  }
}

/** A phase ends after this long, however many requests are left. */
export const phaseLimitMs = 15_000

/** Closed loop: each worker asks again as soon as it is answered, until `count` requests are made or the time is up. */
export async function closedLoop(
  workers: number,
  count: number,
  ask: (worker: number) => Promise<void>,
  limitMs = phaseLimitMs,
): Promise<Figures> {
  const latencies: number[] = []
  const begun = performance.now()
  let asked = 0
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      while (asked < count && performance.now() - begun < limitMs) {
        asked += 1
        const from = performance.now()
        await ask(worker)
        latencies.push(performance.now() - from)
      }
    }),
  )
  return figuresOf(latencies, performance.now() - begun)
}

/** Open loop: one act is begun every 1/rate of a second, whether or not those before it have ended. */
export async function steadily(rate: number, count: number, act: (index: number) => Promise<void>): Promise<void> {
  const begun = performance.now()
  const acts: Promise<void>[] = []
  for (let index = 0; index < count; index += 1) {
    const wait = begun + (index * 1000) / rate - performance.now()
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait))
    const begunAct = act(index)
    // One that fails is told of below, with the others still under way.
    begunAct.catch(() => {})
    acts.push(begunAct)
  }
  await Promise.all(acts)
}

export interface Phase {
  name: string
  /** The name of the phase that is the limit of this one, or its own. */
  peer: string
  run(): Promise<Figures>
}

/**
 * Runs all phases `rounds` times, forwards and backwards in turn, after a first round that warms up and does not count.
 * @returns each phase's figures by its name, a round each.
 */
export async function alternate<Outcome = Figures>(
  phases: readonly { name: string; run(): Promise<Outcome> }[],
  rounds: number,
  settled: () => Promise<void> = async () => {},
): Promise<Map<string, Outcome[]>> {
  const results = new Map<string, Outcome[]>(phases.map(({ name }) => [name, []]))
  for (let round = 0; round <= rounds; round += 1) {
    for (const phase of round % 2 === 0 ? phases : phases.toReversed()) {
      const figures = await phase.run()
      if (round > 0) results.get(phase.name)?.push(figures)
      await settled()
    }
  }
  return results
}

/** To three digits. */
function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** Prints each phase's figures, the medians of the rounds, beside its peer's in the same round: `0.31 (0.28 to 0.33)`. */
export function printResults(title: string, phases: Phase[], results: Map<string, Figures[]>): void {
  const columns = ['perSecond', 'p50', 'p99'] as const
  const rows = phases.map(({ name, peer }) => {
    const own = results.get(name) ?? []
    const peers = results.get(peer) ?? []
    const cells = columns.flatMap((figure) => {
      const ratios = own.map((round, index) => round[figure] / (peers[index]?.[figure] ?? Number.NaN))
      const [middle, least, most] = [median(ratios), Math.min(...ratios), Math.max(...ratios)].map(rounded)
      return [
        rounded(median(own.map((round) => round[figure]))),
        name === peer ? '' : `${middle} (${least} to ${most})`,
      ]
    })
    return [name, ...cells]
  })
  const table = [[title, 'a second', 'ratio', 'p50 ms', 'ratio', 'p99 ms', 'ratio'], ...rows]
  const widths = table[0]?.map((_, column) => Math.max(...table.map((row) => row[column]?.length ?? 0))) ?? []
  console.log()
  for (const row of table)
    console.log(row.map((cell, column) => cell[column === 0 ? 'padEnd' : 'padStart'](widths[column] ?? 0)).join('  '))
}

/** Says where and when, since a figure means nothing without it. */
export function printSurroundings(versions: string): void {
  const load = loadavg()[0] ?? 0
  console.log(
    `${Temporal.Now.plainDateTimeISO().toString({ smallestUnit: 'minute' })}, ${availableParallelism()} cores, ` +
      `load before ${rounded(load)}, Node.js ${process.version}, ${versions}`,
  )
}

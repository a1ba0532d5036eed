import { availableParallelism, loadavg } from 'node:os'

/** What one phase of a run showed. Latencies are in milliseconds. */
export interface Figures {
  perSecond: number
  p50: number
  p99: number
}

/** The smallest value that `share` of all values do not exceed. */
export function percentile(values: number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  const value = sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)]
  if (value === undefined) throw new Error('There is nothing to take a percentile of.')
  return value
}

export function median(values: number[]): number {
  return (
    (percentile(values, 0.5) +
      -percentile(
        values.map((value) => -value),
        0.5,
      )) /
    2
  )
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

/** Every series' figures, round by round. */
export class Rounds {
  readonly #series = new Map<string, Figures[]>()

  add(name: string, figures: Figures): void {
    this.#series.set(name, [...this.of(name), figures])
  }

  of(name: string): Figures[] {
    return this.#series.get(name) ?? []
  }

  /** The median, over the rounds, of one figure. */
  median(name: string, figure: keyof Figures): number {
    return median(this.of(name).map((round) => round[figure]))
  }

  /** One series' figure over another's in the same round: the median of the rounds, the least and the most. */
  ratio(name: string, peer: string, figure: keyof Figures): { median: number; least: number; most: number } {
    const peers = this.of(peer)
    const ratios = this.of(name).map((round, index) => round[figure] / (peers[index]?.[figure] ?? Number.NaN))
    return { median: median(ratios), least: Math.min(...ratios), most: Math.max(...ratios) }
  }
}

/** `0.31 (0.28 to 0.33)` */
export function shown({ median, least, most }: ReturnType<Rounds['ratio']>): string {
  return `${rounded(median)} (${rounded(least)} to ${rounded(most)})`
}

/** To three digits. */
export function rounded(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)
}

/** Prints rows as a table; all columns but the first are aligned to the right. */
export function printTable(head: string[], rows: string[][]): void {
  const all = [head, ...rows]
  const widths = head.map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)))
  const line = (row: string[]) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
  console.log()
  for (const row of [head, widths.map((width) => '-'.repeat(width)), ...rows]) console.log(line(row).join('  '))
}

/** Says where and when, since a figure means nothing without it. */
export function printSurroundings(versions: string): void {
  const load = loadavg()[0] ?? 0
  console.log(
    `${Temporal.Now.plainDateTimeISO().toString({ smallestUnit: 'minute' })}, ${availableParallelism()} cores, ` +
      `load before ${rounded(load)}, Node.js ${process.version}, ${versions}`,
  )
}

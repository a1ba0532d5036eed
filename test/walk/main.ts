import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'
import { testPostgres } from '../src/infrastructure.ts'
import { replay, walkOnce, type Failure } from './run.ts'
import { readSteps } from './step.ts'
import { World } from './world.ts'

const print = (text: string) => process.stdout.write(`${text}\n`)
const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    steps: { type: 'string', default: '2000' },
    length: { type: 'string', default: '150' },
    replay: { type: 'string', multiple: true },
    ignore: { type: 'string', multiple: true, default: [] },
    'keep-going': { type: 'boolean', default: false },
    'shrink-minutes': { type: 'string', default: '5' },
  },
})

const seed = Number(values.seed)
const maxSteps = Number(values.steps)
const postgres = await testPostgres()
const world = await World.start(postgres.url)
const seconds = (since: number) => ((performance.now() - since) / 1000).toFixed(1)
const shrinkForMs = Number(values['shrink-minutes']) * 60_000

/** Formats a failure as input for `--replay`. */
function formatFailure({ message, steps, tries }: Failure, name: string): string {
  const comment = `${name}, shrunk in ${tries} walks\n${message}`.replaceAll('\n', '\n# ')
  return `\n# ${comment}\n${steps.join('\n')}\n`
}

let failed = false
try {
  if (values.replay !== undefined) {
    for (const file of values.replay) {
      const steps = readSteps(await readFile(file, 'utf8'))
      const failure = await replay(world, steps, shrinkForMs)
      failed ||= failure !== undefined
      print(failure ? formatFailure(failure, file) : `${file}: breaks no rule`)
    }
  } else {
    world.ignored = new Set(values.ignore)
    const begun = performance.now()
    let steps = 0
    for (let nth = 0; steps < maxSteps; nth += 1) {
      const one = performance.now()
      const outcome = await walkOnce(world, {
        seed: seed * 10_000 + nth,
        length: Number(values.length),
        shrinkForMs,
      })
      steps += outcome.steps
      print(
        `seed ${outcome.seed}: ${outcome.steps} steps in ${seconds(one)} s; ${steps} of ${maxSteps}, ${(steps / Number(seconds(begun))).toFixed(1)} a second`,
      )
      if (!outcome.failure) continue
      failed = true
      print(formatFailure(outcome.failure, `seed ${outcome.seed}`))
      if (!values['keep-going']) break
    }
  }
  for (const [name, { times, ms }] of [...world.timings].toSorted(([, a], [, b]) => b.ms - a.ms))
    print(`${String(times).padStart(7)} × ${(ms / times).toFixed(0).padStart(5)} ms  ${name}`)
} catch (error) {
  failed = true
  print(String(error instanceof Error ? error.stack : error))
} finally {
  await world.stop()
  await postgres.stop()
}
process.exit(failed ? 1 : 0)

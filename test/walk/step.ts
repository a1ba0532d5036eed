import type * as fc from 'fast-check'
import { checkStep, unlessIgnored } from './check.ts'
import type { Operation } from './operation.ts'
import { bothName, operations } from './operations/all.ts'
import type { Walk } from './walk.ts'
import type { World } from './world.ts'

/** One step: an operation with its arguments. */
export class Step implements fc.AsyncCommand<Walk, World> {
  readonly #operation: Operation
  readonly #args: unknown

  constructor(operation: Operation, args: unknown) {
    this.#operation = operation
    this.#args = args
  }

  check(walk: Readonly<Walk>): boolean {
    return this.#operation.possible(walk)
  }

  async run(walk: Walk): Promise<void> {
    walk.takenSteps.push(this)
    await walk.world.measure(this.#operation.name, () =>
      unlessIgnored(walk, () => this.#operation.run(walk, this.#args as never)),
    )
    walk.assignPaidPurchases()
    await walk.world.measure('# checks after each step', () => checkStep(walk))
  }

  /** The form that `--replay` reads. */
  toString(): string {
    return `${this.#operation.name} ${JSON.stringify(this.#args)}`
  }

  /** Simpler replacements, the simplest first. */
  simpler(): Step[][] {
    const args = this.#args
    if (this.#operation.name === bothName) {
      const [one, other] = (args as { name: string; args: unknown }[]).map(({ name, args }) => stepOf(name, args))
      return one && other ? [[one], [other], [one, other], [other, one]] : []
    }
    if (typeof args !== 'object' || args === null) return []
    return Object.entries(args).flatMap(([name, value]) => {
      const least = typeof value === 'number' ? 0 : typeof value === 'boolean' ? false : value
      return least === value ? [] : [[new Step(this.#operation, { ...args, [name]: least })]]
    })
  }
}

function stepOf(name: string, args: unknown): Step {
  const found = operations.find((one) => one.name === name)
  if (!found) throw new Error(`This is no operation: ${name}`)
  return new Step(found, args)
}

function readStep(line: string): Step {
  const [, name = '', args = 'null'] = /^([^[{"]*?) ([[{"].*|null)$/.exec(line) ?? []
  return stepOf(name, JSON.parse(args))
}

/** Parses steps, one per line; lines that begin with # are comments. */
export function readSteps(text: string): Step[] {
  const lines = text.split('\n').map((line) => line.trim())
  return lines.filter((line) => line !== '' && !line.startsWith('#')).map(readStep)
}

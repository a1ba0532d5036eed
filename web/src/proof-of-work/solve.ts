import type { Challenge, Proof } from '@robokids/contracts/proof'

type Solution = Proof['solution']

/** @throws if the worker cannot be started */
function solveBeside(challenge: Challenge): Promise<Solution> {
  const worker = new Worker(new URL('./worker.ts', import.meta.url), { type: 'module' })
  const solved = new Promise<Solution>((resolve, reject) => {
    worker.addEventListener('message', ({ data }: MessageEvent<Solution>) => resolve(data))
    worker.addEventListener('error', (event) => reject(new Error(event.message)))
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a worker has none
    worker.postMessage(challenge)
  })
  return solved.finally(() => worker.terminate())
}

/** Solves a challenge in a worker, or else in time slices on the main thread; returns the header. */
export async function solve(challenge: Challenge): Promise<string> {
  let solution: Solution
  try {
    solution = await solveBeside(challenge)
  } catch {
    const { findSolution } = await import('./find-solution.ts')
    solution = await findSolution(challenge)
  }
  return btoa(JSON.stringify({ challenge, solution } satisfies Proof))
}

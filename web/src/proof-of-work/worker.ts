import type { Challenge } from '@robokids/contracts/proof'
import { findSolution } from './find-solution.ts'

addEventListener('message', ({ data }: MessageEvent<Challenge>) => {
  void findSolution(data).then((solution) => postMessage(solution))
})

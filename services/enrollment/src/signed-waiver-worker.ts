import { parentPort } from 'node:worker_threads'
import { renderSignedWaiver, type Signature } from './signed-waiver.ts'

/** What the worker is asked for. */
export interface Order {
  signature: Signature
  shown: Uint8Array
}

/** Its answer, one for each order, in their order. */
export type Result = { pdf: Uint8Array } | { error: string }

parentPort?.on('message', ({ signature, shown }: Order) => {
  void renderSignedWaiver(signature, shown)
    .then(
      (pdf): Result => ({ pdf }),
      (error: unknown): Result => ({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    )
    .then((result) => parentPort?.postMessage(result, []))
})

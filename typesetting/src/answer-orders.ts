import { parentPort } from 'node:worker_threads'

/** The answer to an order, one for each, in their order. */
export type Result = { pdf: Uint8Array } | { error: string }

/** What the thread of a `Typesetter` does: renders what it is asked for, which is what `render` takes. */
export function answerOrders(render: (order: never) => Promise<Uint8Array>): void {
  parentPort?.on('message', (order: unknown) => {
    void render(order as never)
      .then(
        (pdf): Result => ({ pdf }),
        (error: unknown): Result => ({
          error: error instanceof Error ? (error.stack ?? error.message) : String(error),
        }),
      )
      .then((result) => parentPort?.postMessage(result, []))
  })
}

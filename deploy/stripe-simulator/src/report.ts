/** Says on standard error what went wrong inside the simulator. Never given a request's body: it may hold a card number. */
export function report(message: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`stripe-simulator: ${message}: ${detail}\n`)
}

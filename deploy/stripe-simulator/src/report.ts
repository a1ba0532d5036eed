/** Reports an internal error on standard error. Never pass a request's body: it may contain a card number. */
export function report(message: string, error: unknown): void {
  const detail = error instanceof Error ? (error.stack ?? error.message) : String(error)
  process.stderr.write(`stripe-simulator: ${message}: ${detail}\n`)
}

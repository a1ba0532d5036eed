/**
 * The polling interval: short at first, while a change is likely, then longer. Every open page polls, and most of
 * them when the server is in trouble already.
 */
export const askAgainMs = (firstMs: number, times: number) => Math.min(firstMs * 1.15 ** times, 30_000)

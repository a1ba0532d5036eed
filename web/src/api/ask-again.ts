/**
 * How long until something is asked about again: often at first, while news is likely, then ever more seldom. Every page that
 * is open asks, and most of all where the server is in trouble already.
 */
export const askAgainMs = (firstMs: number, times: number) => Math.min(firstMs * 1.15 ** times, 30_000)

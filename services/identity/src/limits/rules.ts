/**
 * Returns how long the next sign-in has to wait after consecutive failures.
 * @param free failures without a wait
 * @param maxSeconds the longest wait
 * @returns seconds: 0, then 1, 2, 4 and so on
 */
export function waitAfter(failures: number, free: number, maxSeconds: number): number {
  return failures <= free ? 0 : Math.min(2 ** Math.min(failures - free - 1, 30), maxSeconds)
}

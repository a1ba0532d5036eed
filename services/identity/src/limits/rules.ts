/**
 * How long the next sign-in has to wait after so many failures in a row.
 * @param free failures that cost nothing.
 * @param longest in seconds.
 * @returns seconds: none, then 1, 2, 4 and so on.
 */
export function waitAfter(failures: number, free: number, longest: number): number {
  return failures <= free ? 0 : Math.min(2 ** Math.min(failures - free - 1, 30), longest)
}

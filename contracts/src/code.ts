/**
 * Normalizes a one-time code that was typed or copied: removes blanks and hyphens, and converts full-width (East Asian) and
 * Arabic digits. In a file without zod, so that pages can use it too.
 */
export function readCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replaceAll(/[\s\p{Pd}\p{Cf}\u2212\u30fc]/gu, '')
}

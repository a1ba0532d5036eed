/**
 * A one-time code as it is meant, however it was typed or copied: with gaps or hyphens, in the wide digits of an East Asian
 * keyboard or in Arabic ones. In a file without schemas: whoever takes a code reads it by this.
 */
export function readCode(typed: string): string {
  return typed
    .normalize('NFKC')
    .replaceAll(/[\u0660-\u0669\u06f0-\u06f9]/g, (digit) => String(digit.charCodeAt(0) & 15))
    .replaceAll(/[\s\p{Pd}\p{Cf}\u2212\u30fc]/gu, '')
}

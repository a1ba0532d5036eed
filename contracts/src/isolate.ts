/** Text of its own direction inside a sentence of ours: it is set apart, so that it cannot reorder the rest. */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`
}

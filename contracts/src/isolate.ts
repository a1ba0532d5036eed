/** Wraps text in Unicode direction isolates, so that its reading direction cannot reorder the sentence around it. */
export function isolate(text: string): string {
  return `\u2068${text}\u2069`
}

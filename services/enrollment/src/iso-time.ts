/** Formats an instant as contracts do. */
export function isoTime(instant: Temporal.Instant): string {
  return instant.toString({ fractionalSecondDigits: 3 })
}

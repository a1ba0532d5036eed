const moment = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium' })

/** An ISO instant as a day on the reader's own calendar: `Nov 28, 2026`. What is no instant comes back as it is. */
export function formatMoment(instant: string): string {
  const millis = Date.parse(instant)
  return Number.isNaN(millis) ? instant : moment.format(millis)
}

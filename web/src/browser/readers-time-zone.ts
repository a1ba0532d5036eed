import { timeZoneName } from '@robokids/contracts/time-zone'

/** The reader's IANA time zone; undefined if the browser does not know it. */
export function readersTimeZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZoneName.test(timeZone) ? timeZone : undefined
}

import { timeZoneName } from '@robokids/contracts/time-zone'

/** The reader's time zone, by its IANA name; undefined where the browser does not know it by one. */
export function readersTimeZone(): string | undefined {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions()
  return timeZoneName.test(timeZone) ? timeZone : undefined
}

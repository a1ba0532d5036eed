/**
 * Matches the form of an IANA time zone name, such as `America/New_York`; whether the zone exists depends on the time zone data
 * of each process. In a file without zod, for pages without a form.
 */
export const timeZoneName = /^(?=.{1,64}$)[A-Za-z][\w+-]*(\/[\w+-]+)*$/

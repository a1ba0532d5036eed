/**
 * The form of an IANA time zone's name, such as `America/New_York`; which there are, each reader's own data tells. In a file of
 * its own, without zod, for the pages that check no form.
 */
export const timeZoneName = /^(?=.{1,64}$)[A-Za-z][\w+-]*(\/[\w+-]+)*$/

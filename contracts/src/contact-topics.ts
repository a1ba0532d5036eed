/* Without zod, which the page does not load. */

/** The topics of a message to the school, with their labels. */
export const contactTopics = {
  class: 'A class or its date',
  kit: 'A kit',
  order: 'A shop order',
  membership: 'My membership',
  account: 'My account',
  other: 'Something else',
} as const
export type ContactTopic = keyof typeof contactTopics

/** The maximum length of a message, in characters. */
export const maxMessageLength = 5_000

/* Without a schema: the page asks with them before it checks anything. */

/** What a message to the school is about, as its writer chooses it. */
export const contactTopics = {
  class: 'A class or its date',
  kit: 'A kit',
  order: 'An order of the shop',
  membership: 'The membership',
  account: 'My account',
  other: 'Something else',
} as const
export type ContactTopic = keyof typeof contactTopics

/** Characters that a message can have. */
export const longestMessage = 5_000

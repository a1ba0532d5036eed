/** The services that own a database. */
export const owning = ['identity', 'enrollment', 'billing', 'notifications'] as const
export type Owning = (typeof owning)[number]
export const killable = [...owning, 'bff'] as const

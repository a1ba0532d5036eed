/** The services that own a database. */
export const databaseServices = ['identity', 'enrollment', 'billing', 'notifications'] as const
export type DatabaseService = (typeof databaseServices)[number]
export const killable = [...databaseServices, 'bff'] as const

import type { LevelClassType, RegistrationRequest } from '@robokids/contracts/enrollment'

/** What is sent beside what the form says. */
export const notOfTheForm = { id: true, replaces: true, unlessRegistered: true, familyTimeZone: true } as const

/** What the form says. */
export type RegistrationContent = Omit<RegistrationRequest, keyof typeof notOfTheForm> & {
  classType: LevelClassType
}

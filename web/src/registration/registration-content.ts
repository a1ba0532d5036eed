import type { LevelClassType, RegistrationRequest } from '@robokids/contracts/enrollment'

/** Request fields that are not in the form. */
export const notOfTheForm = { id: true, replaces: true, unlessRegistered: true, familyTimeZone: true } as const

/** The form's validated content. */
export type RegistrationContent = Omit<RegistrationRequest, keyof typeof notOfTheForm> & {
  classType: LevelClassType
}

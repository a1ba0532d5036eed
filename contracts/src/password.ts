/** The special characters that count for the password rules, as the sign-up form lists them. */
export const passwordSymbols = '!@#$%^&*()_-+=<>?{}[]~'

/** The password rules, used by the live checklist of the form and by the identity service. */
export const passwordRules = {
  length: (password: string) => [...password].length >= 8,
  capital: (password: string) => /[A-Z]/.test(password),
  digit: (password: string) => /[0-9]/.test(password),
  symbol: (password: string) => [...password].some((character) => passwordSymbols.includes(character)),
} as const satisfies Record<string, (password: string) => boolean>

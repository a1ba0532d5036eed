/** Special characters that a password may count on, as the membership's registration says. */
export const passwordSymbols = '!@#$%^&*()_-+=<>?{}[]~'

/** The rules of a password, each by itself: what the live checklist colours and what the service refuses by. */
export const passwordRules = {
  length: (password: string) => [...password].length >= 8,
  capital: (password: string) => /[A-Z]/.test(password),
  digit: (password: string) => /[0-9]/.test(password),
  symbol: (password: string) => [...password].some((character) => passwordSymbols.includes(character)),
} as const satisfies Record<string, (password: string) => boolean>

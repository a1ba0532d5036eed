import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useUser } from '../account/use-user.ts'
import { useClientState } from '../browser/use-client-state.ts'
import { forgetStoredDraft, readDraft, saveDraft } from './draft.ts'
import { emptyValues, fillEmpty, type SignUpValues, type TextField, textFields } from './sign-up-values.ts'

/**
 * What stands in the sign-up form: what was typed, by this parent. Where one is signed in, also what they typed in another
 * tab, and what their account says where nothing was typed.
 * @param linkedDate the date that a link here has chosen
 */
export function useSignUpValues(linkedDate: string | undefined) {
  const queryClient = useQueryClient()
  const userId = useUser()?.userId ?? null
  const [values, setValues] = useClientState<SignUpValues>(emptyValues, () => ({
    ...readDraft(userId),
    ...(linkedDate ? { startDate: linkedDate } : {}),
  }))
  // Whose form it is: it stays the first one's where another account signs in beside it, and what it sends is refused then.
  const [owner, setOwner] = useState(userId)
  const [known, setKnown] = useState<Partial<SignUpValues>>({})
  const [touched, setTouched] = useState<readonly TextField[]>([])
  if (owner !== userId && (owner === null || userId === null)) {
    setOwner(userId)
    setKnown({})
    setTouched([])
    // Who is signed in is known after the form can be typed into. Of an account that was left nothing stays.
    setValues(owner === null ? fillEmpty(values, readDraft(userId)) : readDraft(userId))
  }

  useEffect(() => {
    if (owner === null) return
    let gone = false
    import('./account-values.ts')
      .then(({ accountValues }) => accountValues(queryClient, owner))
      .then(
        (told) => {
          if (gone) return
          setKnown(told)
          setValues((now) => fillEmpty(now, told))
        },
        // It can be typed.
        () => undefined,
      )
    return () => {
      gone = true
    }
  }, [owner, queryClient, setValues])

  return {
    values,
    keep: (next: SignUpValues) => {
      const typed = new Set([...touched, ...textFields.filter((name) => next[name] !== values[name])])
      setTouched([...typed])
      setValues(next)
      // What the account says it will say again: a draft is what somebody typed.
      const filledIn = textFields.filter((name) => !typed.has(name) && next[name] === known[name])
      saveDraft({ ...next, ...Object.fromEntries(filledIn.map((name) => [name, ''])) }, owner)
    },
    /** Nothing of it needs typing again, unless this tab comes back from paying. */
    clearStoredDraft: () => {
      if (owner !== null) forgetStoredDraft(owner)
    },
  }
}

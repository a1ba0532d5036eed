import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useUser } from '../identity/use-user.ts'
import { useKeptState } from '../use-kept-state.ts'
import { forgetStoredDraft, readDraft, saveDraft } from './draft.ts'
import { emptyValues, fillEmpty, type SignUpValues } from './sign-up-values.ts'

/**
 * What stands in the sign-up form: what was typed, by this parent. Where one is signed in, also what they typed in another
 * tab, and what their account says where nothing was typed.
 * @param linkedDate the date that a link here has chosen
 */
export function useSignUpValues(linkedDate: string | undefined) {
  const queryClient = useQueryClient()
  const userId = useUser()?.userId ?? null
  const [values, setValues] = useKeptState<SignUpValues>(emptyValues, () => ({
    ...readDraft(userId),
    ...(linkedDate ? { startDate: linkedDate } : {}),
  }))
  const [owner, setOwner] = useState(userId)
  if (owner !== userId) {
    setOwner(userId)
    // Who is signed in is known after the form can be typed into. Of another account, or of none any more, nothing stays.
    setValues(owner === null ? fillEmpty(values, readDraft(userId)) : readDraft(userId))
  }

  useEffect(() => {
    if (userId === null) return
    let gone = false
    import('./account-values.ts')
      .then(({ accountValues }) => accountValues(queryClient, userId))
      .then(
        (known) => {
          if (!gone) setValues((now) => fillEmpty(now, known))
        },
        // It can be typed.
        () => undefined,
      )
    return () => {
      gone = true
    }
  }, [userId, queryClient, setValues])

  return {
    values,
    keep: (next: SignUpValues) => {
      setValues(next)
      saveDraft(next, userId)
    },
    /** Nothing of it needs typing again, unless this tab comes back from paying. */
    noteSent: () => {
      if (userId !== null) forgetStoredDraft(userId)
    },
  }
}

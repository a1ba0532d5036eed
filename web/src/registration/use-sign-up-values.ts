import { useQueryClient } from '@tanstack/react-query'
import { useEffect, useState } from 'react'
import { useUser } from '../account/use-user.ts'
import { useClientState } from '../browser/use-client-state.ts'
import { forgetStoredDraft, readDraft, saveDraft } from './draft.ts'
import {
  type ChildValues,
  emptyValues,
  fillEmpty,
  type SignUpValues,
  type TextField,
  textFields,
} from './sign-up-values.ts'

/**
 * The values of the sign-up form: the parent's draft; for a signed-in parent also the draft of another
 * tab, and values from their account for empty fields.
 * @param linkedDate the date in the URL
 */
export function useSignUpValues(linkedDate: string | undefined) {
  const queryClient = useQueryClient()
  const userId = useUser()?.userId ?? null
  const [values, setValues] = useClientState<SignUpValues>(emptyValues, () => ({
    ...readDraft(userId),
    ...(linkedDate ? { startDate: linkedDate } : {}),
  }))
  // The form's account: stays the same when another tab signs in to a different one, and requests are rejected then.
  const [owner, setOwner] = useState(userId)
  const [known, setKnown] = useState<Partial<SignUpValues>>({})
  const [family, setFamily] = useState<readonly ChildValues[]>([])
  const [touched, setTouched] = useState<readonly TextField[]>([])
  if (owner !== userId && (owner === null || userId === null)) {
    setOwner(userId)
    setKnown({})
    setFamily([])
    setTouched([])
    // The session is known only after hydration. After a sign-out nothing of the account stays.
    setValues(owner === null ? fillEmpty(values, readDraft(userId)) : readDraft(userId))
  }

  useEffect(() => {
    if (owner === null) return
    let gone = false
    import('./account-values.ts')
      .then(({ accountValues }) => accountValues(queryClient, owner))
      .then(
        (account) => {
          if (gone) return
          setKnown(account.values)
          setFamily(account.children)
          setValues((now) => fillEmpty(now, account.values))
        },
        // The parent can type it.
        () => undefined,
      )
    return () => {
      gone = true
    }
  }, [owner, queryClient, setValues])

  return {
    values,
    /** The children that the account has registered before. */
    family,
    keep: (next: SignUpValues) => {
      const typed = new Set([...touched, ...textFields.filter((name) => next[name] !== values[name])])
      setTouched([...typed])
      setValues(next)
      // Values from the account are not stored in the draft.
      const filledIn = textFields.filter((name) => !typed.has(name) && next[name] === known[name])
      saveDraft({ ...next, ...Object.fromEntries(filledIn.map((name) => [name, ''])) }, owner)
    },
    /** After the form was sent: only this tab keeps its draft. */
    clearStoredDraft: () => {
      if (owner !== null) forgetStoredDraft(owner)
    },
  }
}

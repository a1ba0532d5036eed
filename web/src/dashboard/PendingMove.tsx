import type { Change } from '@robokids/contracts/changes'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { change, moveAnswer } from './change-answers.ts'

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })

/** The buttons of a move that is not paid yet: pay its difference, or give it up. */
export function PendingMove({ base, move }: { base: `/api/${string}`; move: Change }) {
  const { changeId, terms } = move
  const queryClient = useQueryClient()
  const { leaving, leaveFor } = useExternalRedirect()
  const paying = useSubmit('The payment page could not be opened. Please try again.')
  const keeping = useSubmit('Something went wrong. Please try again.')
  const reload = () => queryClient.invalidateQueries({ queryKey: ['dashboard'] })
  const pay = () =>
    paying.submit(async () => {
      const placeIds = terms.lines.map(({ placeId }) => placeId)
      // A repetition by its id: it has one payment page.
      const body = { id: changeId, placeIds, to: terms.to?.classSessionId, quoteId: '' }
      const { checkoutUrl } = await api(`${base}/move`, { method: 'POST', body, answer: moveAnswer })
      if (checkoutUrl !== null) return leaveFor(checkoutUrl)
      await reload()
    })
  const keep = () =>
    keeping.submit(async () => {
      await api(`${base}/move/withdraw`, { method: 'POST', body: { changeId }, answer: change })
      await reload()
    })
  const message = paying.message ?? keeping.message
  return (
    <>
      <Button variant="secondary" pending={paying.pending || leaving} onClick={pay}>
        {`Pay ${dollars(terms.due)}`}
      </Button>
      <Button variant="quiet" pending={keeping.pending} onClick={keep}>
        {terms.school ? 'Give it up' : 'Keep the old date'}
      </Button>
      {message && <p role="alert">{message.text}</p>}
    </>
  )
}

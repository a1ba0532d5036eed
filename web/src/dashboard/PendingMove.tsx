import type { DashboardCard } from '@robokids/contracts/dashboard'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../api/api.ts'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'

// Only for who presses a button: most families have no move that is not paid.
const loadAnswers = () => import('./change-answers.ts')

const dollars = (amount: number) => formatMoney({ amount, currency: 'usd' })

/** The buttons of a move that is not paid yet: pay its difference, or give it up. */
export function PendingMove({
  base,
  move,
}: {
  base: `/api/${string}`
  move: NonNullable<DashboardCard['pendingMove']>
}) {
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
      const { moveAnswer } = await importOrReload(loadAnswers)
      const { checkoutUrl } = await api(`${base}/move`, { method: 'POST', body, answer: moveAnswer })
      if (checkoutUrl !== null) return leaveFor(checkoutUrl)
      await reload()
    })
  const keep = () =>
    keeping.submit(async () => {
      const { change } = await importOrReload(loadAnswers)
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

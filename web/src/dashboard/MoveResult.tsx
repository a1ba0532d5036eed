import type { Change } from '@robokids/contracts/changes'
import { formatClassDate } from '@robokids/contracts/class-date'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useEffect } from 'react'
import { api } from '../api/api.ts'
import { asWritten } from '../ui/AsWritten.tsx'
import { Notice } from '../ui/Notice.tsx'
import { changes } from './change-answers.ts'
import { namesOf } from './ClassCard.tsx'

const shortLevel = (levelTitle: string) => levelTitle.split(' ').slice(0, 2).join(' ')
const verb = (lines: readonly unknown[]) => (lines.length === 1 ? 'keeps' : 'keep')

/** What has become of a move, in a sentence. */
export function moveResult({ status, terms: { lines, from, to, due } }: Change): string {
  const who = namesOf(lines)
  const old = shortLevel(from.levelTitle)
  switch (status) {
    case 'held':
      return `Your payment is being confirmed. ${who} ${lines.length === 1 ? 'moves' : 'move'} in a moment.`
    case 'done': {
      const day = to && formatClassDate(to.startDate).replace(/, \d{4}$/, '')
      return to ? `${who} moved to ${shortLevel(to.levelTitle)}, ${day}.` : `${who} moved.`
    }
    case 'refused':
      return `The new seat was gone when your payment arrived. ${who} ${verb(lines)} ${old}, and ${formatMoney({ amount: due, currency: 'usd' })} goes back.`
    case 'expired':
    case 'withdrawn':
      return `${who} ${verb(lines)} ${old}. Nothing was charged.`
  }
}

/** What has become of a move whose payment page has just been left. */
export function MoveResult({ card, changeId }: { card: string; changeId: string }) {
  const queryClient = useQueryClient()
  const { data } = useQuery({
    queryKey: ['dashboard', 'result of a move', card, changeId],
    queryFn: ({ signal }) => api(`/api/registrations/${encodeURIComponent(card)}/changes`, { answer: changes, signal }),
    select: (answer) => answer.changes.find((one) => one.changeId === changeId),
    refetchInterval: ({ state }) =>
      state.data?.changes.some((one) => one.changeId === changeId && one.status === 'held') ? 2_000 : false,
    gcTime: 0,
    retry: false,
  })
  const status = data?.status
  useEffect(() => {
    if (status === 'done' || status === 'refused') void queryClient.invalidateQueries({ queryKey: ['dashboard'] })
  }, [status, queryClient])
  if (!data) return null
  return <Notice kind={status === 'done' ? 'success' : 'info'} title={asWritten(moveResult(data))} live />
}

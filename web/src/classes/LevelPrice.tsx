import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import type { Priced } from '../reading/text.ts'
import { Skeleton } from '../ui/Skeleton.tsx'
import { classesQuery } from './classes-query.ts'

/** The current price from the server: articles contain none. */
function LevelPrice({ of }: { of: Priced }) {
  const { data, isError } = useQuery(classesQuery)
  const level = data?.levels.find(({ classType }) => classType === of)
  return <span>{level ? formatMoney(level.price, true) : isError ? 'See its page' : <Skeleton width="4ch" />}</span>
}

export const showLevelPrice = (of: Priced) => <LevelPrice of={of} />

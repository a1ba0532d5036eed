import type { LevelClassType } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { classesQuery } from '../../queries.ts'
import { Skeleton } from '../../ui/Skeleton.tsx'

/** As the server has it: prices stand in no article. */
function LevelPrice({ of }: { of: LevelClassType }) {
  const { data, isError } = useQuery(classesQuery)
  const level = data?.levels.find(({ classType }) => classType === of)
  return <span>{level ? formatMoney(level.price, true) : isError ? 'On its page' : <Skeleton width="4ch" />}</span>
}

export const showLevelPrice = (of: LevelClassType) => <LevelPrice of={of} />

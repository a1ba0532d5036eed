import type { LevelClassType } from '@robokids/contracts/enrollment'

/** How much a child has built before, from nothing to a robot. */
export type Experience = 0 | 1 | 2 | 3

interface Candidate {
  classType: LevelClassType
  recommendedAges: { from: number; to: number }
  needs: Experience
}

/**
 * The level to begin with: of those that ask for no more than the child has done, the highest that is made for its age. Where
 * none is, what the child can do counts, and `outside` says that the ages are others.
 *
 * @param levels from the first to the last.
 */
export function suggestLevel(
  levels: readonly Candidate[],
  age: number,
  experience: Experience,
): { classType: LevelClassType; outside: boolean } | undefined {
  const able = levels.filter(({ needs }) => needs <= experience)
  const fits = able.filter(({ recommendedAges: { from, to } }) => age >= from && age <= to).at(-1)
  // Too young for all of them: the first. Too old for those that ask for nothing more: the last of these.
  const other = age < Math.min(...able.map(({ recommendedAges }) => recommendedAges.from)) ? able[0] : able.at(-1)
  const found = fits ?? other
  return found && { classType: found.classType, outside: !fits }
}

import type { LevelClassType } from '@robokids/contracts/enrollment'

/** The child's experience, from nothing to a robot. */
export type Experience = 0 | 1 | 2 | 3

interface Candidate {
  classType: LevelClassType
  recommendedAges: { from: number; to: number }
  needs: Experience
}

/**
 * The suggested level: the highest for the child's age that requires no more experience than the child has. If there
 * is none, experience decides, and `outside` says that the age does not fit.
 *
 * @param levels in ascending order
 */
export function suggestLevel(
  levels: readonly Candidate[],
  age: number,
  experience: Experience,
): { classType: LevelClassType; outside: boolean } | undefined {
  const able = levels.filter(({ needs }) => needs <= experience)
  const fits = able.filter(({ recommendedAges: { from, to } }) => age >= from && age <= to).at(-1)
  // Too young for all: the first. Too old: the last that requires no more experience.
  const other = age < Math.min(...able.map(({ recommendedAges }) => recommendedAges.from)) ? able[0] : able.at(-1)
  const found = fits ?? other
  return found && { classType: found.classType, outside: !fits }
}

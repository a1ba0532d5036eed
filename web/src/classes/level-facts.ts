import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { Experience } from './suggest-level.ts'

interface LevelFacts {
  /** What stands on the table at the end. */
  built: string
  /** What a child should have done before. */
  before: string
  /** The same as one of the answers that can be chosen. */
  needs: Experience
}

/** What a level is compared by, beside what the server knows of it and what its own page says is in the kit. */
export const levelFacts: Record<LevelClassType, LevelFacts> = {
  basic: { built: 'A rover that drives', before: 'None', needs: 0 },
  intermediate: {
    built: 'A robot arm that senses and grips',
    before: 'Helps: a first circuit or a small program',
    needs: 1,
  },
  advanced: {
    built: 'A walker that finds its own way',
    before: 'Simple circuits, and programs with conditions and loops',
    needs: 2,
  },
  custom: {
    built: 'A robot of your child’s own invention',
    before: 'A robot built and programmed, at home or in a class',
    needs: 3,
  },
}

/** By what it is worth, from none upward. */
export const experiences: readonly string[] = [
  'None yet',
  'A first circuit or a small program',
  'Circuits, and programs with conditions and loops',
  'Has built and programmed a robot',
]

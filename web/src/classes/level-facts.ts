import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { Experience } from './suggest-level.ts'

interface LevelFacts {
  /** The finished project. */
  built: string
  /** The recommended experience. */
  before: string
  /** The same as one of the options. */
  needs: Experience
}

/** Facts for comparing levels, besides those from the server and the kit on the level's own page. */
export const levelFacts: Record<LevelClassType, LevelFacts> = {
  basic: { built: 'A rover that drives', before: 'None', needs: 0 },
  intermediate: {
    built: 'A robot arm that senses and grips',
    before: 'Helpful: a first circuit or a small program',
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

/** In ascending order. */
export const experiences: readonly string[] = [
  'None yet',
  'A first circuit or a small program',
  'Circuits, and programs with conditions and loops',
  'Has built and programmed a robot',
]

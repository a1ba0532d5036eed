import { openingLevels } from '@robokids/contracts/opening-levels'
import { describe, expect, it } from 'vitest'
import { levelFacts } from './level-facts.ts'
import { isLevel } from './level-looks.ts'
import { type Experience, suggestLevel } from './suggest-level.ts'

const levels = Object.entries(openingLevels).flatMap(([classType, { recommendedAges }]) =>
  isLevel(classType) ? [{ classType, recommendedAges, needs: levelFacts[classType].needs }] : [],
)

describe('the level that is suggested', () => {
  it.each<[age: number, experience: Experience, classType: string, outside: boolean]>([
    [5, 0, 'basic', true],
    [6, 0, 'basic', false],
    [6, 3, 'basic', false],
    [8, 1, 'intermediate', false],
    [9, 0, 'basic', false],
    [10, 2, 'advanced', false],
    [13, 3, 'custom', false],
    [14, 0, 'basic', true],
    [15, 2, 'advanced', false],
    [16, 1, 'intermediate', true],
    [17, 3, 'custom', true],
  ])('for a child of %i with experience %i is %s, outside of its ages: %s', (age, experience, classType, outside) => {
    expect(suggestLevel(levels, age, experience)).toEqual({ classType, outside })
  })
})

import type { Level, LevelClassType } from './enrollment.ts'

/**
 * The levels at the school's opening. They seed enrollment's database, which is the source of truth from then on; pages show
 * them until its response arrives, and without scripts.
 */
export const openingLevels: Record<LevelClassType, Omit<Level, 'classType' | 'sessions'>> = {
  basic: {
    levelId: 'lvl1',
    title: 'Level 1 Foundations',
    description: 'First circuits, motors and sensors: children build a small robot of their own and bring it to life.',
    recommendedAges: { from: 6, to: 13 },
    programLength: '6 weeks',
  },
  intermediate: {
    levelId: 'lvl2',
    title: 'Level 2 Smart Robotics and Coding',
    description:
      'Robots that sense and decide: real code on a microcontroller, servos, and projects that react to the world.',
    recommendedAges: { from: 8, to: 14 },
    programLength: '6 weeks',
  },
  advanced: {
    levelId: 'lvl3',
    title: 'Level 3 Autonomous Mastery',
    description:
      'Robots that find their own way: navigation, control loops, and a machine that works without a remote.',
    recommendedAges: { from: 10, to: 15 },
    programLength: '8 weeks',
  },
  custom: {
    levelId: 'lvlX',
    title: 'Level X Custom Innovation Lab',
    description:
      'A project of the student’s own, from the first sketch to a working prototype, with a mentor alongside.',
    recommendedAges: { from: 11, to: 16 },
    programLength: '6 to 8 weeks',
  },
}

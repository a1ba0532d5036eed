import type { LevelClassType } from '@robokids/contracts/enrollment'
import { levelPages, type PagePath } from '@robokids/contracts/pages'
import type { Accent } from '../ui/Card.tsx'

interface LevelLooks {
  /** Its sign-up page. */
  path: PagePath
  accent: Accent
  /** For the time before the server has told its title. */
  name: string
  /** What the child will be able to do, in one breath. */
  promise: string
}

/** What only the web knows of each level; titles, prices, ages, weeks and dates come from the server. */
export const levels: Record<LevelClassType, LevelLooks> = {
  basic: {
    path: levelPages.basic,
    accent: 'green',
    name: 'Level 1 Foundations',
    promise: 'Build a first rover and make it drive.',
  },
  intermediate: {
    path: levelPages.intermediate,
    accent: 'blue',
    name: 'Level 2 Smart Robotics and Coding',
    promise: 'Write code that senses, decides and grips.',
  },
  advanced: {
    path: levelPages.advanced,
    accent: 'violet',
    name: 'Level 3 Autonomous Mastery',
    promise: 'Teach a robot to find its own way.',
  },
  custom: {
    path: levelPages.custom,
    accent: 'orange',
    name: 'Level X Custom Innovation Lab',
    promise: 'Invent a robot that nobody has built before.',
  },
}

/** Records also hold what was typed into an address line. */
export function isLevel(classType: string): classType is LevelClassType {
  return Object.hasOwn(levels, classType)
}

import type { LevelClassType } from '@robokids/contracts/enrollment'
import { levelPages } from '@robokids/contracts/pages'
import type { Accent } from '../ui/Card.tsx'

interface LevelLooks {
  /** Its sign-up page. */
  path: (typeof levelPages)[LevelClassType]
  accent: Accent
  /** What the child will be able to do, in one short sentence. */
  promise: string
}

/** What only the web knows of each level; the rest comes from the server, or before that from `openingLevels`. */
export const levels: Record<LevelClassType, LevelLooks> = {
  basic: {
    path: levelPages.basic,
    accent: 'green',
    promise: 'Build a first rover and make it drive.',
  },
  intermediate: {
    path: levelPages.intermediate,
    accent: 'blue',
    promise: 'Write code that senses, decides and grips.',
  },
  advanced: {
    path: levelPages.advanced,
    accent: 'violet',
    promise: 'Teach a robot to find its own way.',
  },
  custom: {
    path: levelPages.custom,
    accent: 'orange',
    promise: 'Invent a robot that nobody has built before.',
  },
}

/** Records may also contain a class type from the URL. */
export function isLevel(classType: string): classType is LevelClassType {
  return Object.hasOwn(levels, classType)
}

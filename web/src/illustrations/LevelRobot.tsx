import type { LevelClassType } from '@robokids/contracts/enrollment'
import { Drawing, type DrawingName } from './Drawing.tsx'

const robots: Record<LevelClassType, DrawingName> = {
  basic: 'rover',
  intermediate: 'arm',
  advanced: 'walker',
  custom: 'shape-shifter',
}

/** Each level's own robot. */
export function LevelRobot({ classType }: { classType: LevelClassType }) {
  return <Drawing of={robots[classType]} />
}

import type { LevelClassType } from '@robokids/contracts/enrollment'
import type { DrawingName } from '../ui/drawing-names.ts'
import { Drawing } from '../ui/Drawing.tsx'

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

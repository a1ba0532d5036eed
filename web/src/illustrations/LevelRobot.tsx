import type { LevelClassType } from '@robokids/contracts/enrollment'
import { Arm } from './Arm.tsx'
import { Rover } from './Rover.tsx'
import { ShapeShifter } from './ShapeShifter.tsx'
import { Walker } from './Walker.tsx'

const robots = { basic: Rover, intermediate: Arm, advanced: Walker, custom: ShapeShifter }

/** Each level's own robot. */
export function LevelRobot({ classType }: { classType: LevelClassType }) {
  const Robot = robots[classType]
  return <Robot />
}

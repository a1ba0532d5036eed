import styles from './Drawing.module.css'
import drawings from './drawings.svg?no-inline'
import reading from './reading.svg?no-inline'

/** Each drawing's own size, which is also its proportion. */
const sizes = {
  rover: [240, 190],
  arm: [240, 190],
  walker: [240, 190],
  'shape-shifter': [240, 190],
  spider: [280, 206],
  bear: [200, 190],
  'kit-box': [240, 190],
  'class-scene': [440, 340],
  'innovator-scene': [440, 340],
  'guide-scene': [440, 340],
  'code-and-board': [320, 220],
  'first-circuit': [320, 220],
  notebook: [320, 220],
  'lost-robot': [400, 250],
  mother: [80, 80],
  father: [80, 80],
  grandmother: [80, 80],
} as const

/** Those of `reading.svg`, all of one size. */
const readingNames = [
  'welcome',
  'shield',
  'launch',
  'bug-robot',
  'roach-robot',
  'bee-robot',
  'led-and-button',
  'gear-motor',
  'servo-arm',
  'letter',
  'document',
  'video',
  'photo',
  'founder',
  'director',
] as const

export type DrawingName = keyof typeof sizes | (typeof readingNames)[number]
export const drawingNames = [...Object.keys(sizes), ...readingNames] as DrawingName[]

/**
 * One of `drawings.svg` or `reading.svg`. They are files of their own and no code, so that no script has to be loaded and run for a
 * picture; lines and colours still come from here. They decorate: what matters is said in the text beside them.
 */
export function Drawing({ of }: { of: DrawingName }) {
  const [width, height] = of in sizes ? sizes[of as keyof typeof sizes] : [320, 220]
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className={styles['drawing']}
      aria-hidden="true"
      focusable="false"
    >
      <use href={`${of in sizes ? drawings : reading}#${of}`} />
    </svg>
  )
}

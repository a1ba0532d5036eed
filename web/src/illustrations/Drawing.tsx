import styles from './Drawing.module.css'

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
  siblings: [56, 40],
  'empty-tray': [160, 96],
  mother: [80, 80],
  father: [80, 80],
  grandmother: [80, 80],
} as const

/** Those of what is read, all of one size. */
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
  'pin-board',
  'filming',
  'video',
  'photo',
  'founder',
  'director',
] as const

export type DrawingName = keyof typeof sizes | (typeof readingNames)[number]
export const drawingNames = [...Object.keys(sizes), ...readingNames] as DrawingName[]

/**
 * One of `public/drawings`: flat fills, rounded lines of 2, light from the upper left, one face for all robots. Each is a file
 * of its own and no code, so that a page loads what it shows, and no script for it; lines and colours still come from here.
 * They decorate: what matters is said in the text beside them.
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
      <use href={`/drawings/${of}.svg#${of}`} />
    </svg>
  )
}

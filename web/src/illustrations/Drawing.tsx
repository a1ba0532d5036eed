import styles from './Drawing.module.css'
import type { readingNames } from './drawing-names.ts'

/** Each drawing's own size, which is also its proportion. */
export const sizes = {
  rover: [240, 190],
  arm: [240, 190],
  walker: [240, 190],
  'shape-shifter': [240, 190],
  spider: [280, 206],
  bear: [200, 190],
  'kit-box': [240, 190],
  'class-scene': [440, 340],
  'innovator-scene': [440, 340],
  'guide-scene': [446, 340],
  'code-and-board': [328, 220],
  'first-circuit': [320, 220],
  notebook: [320, 220],
  'lost-robot': [400, 266],
  siblings: [56, 40],
  'empty-tray': [160, 96],
  mother: [80, 80],
  father: [80, 80],
  grandmother: [80, 80],
} as const

export type DrawingName = keyof typeof sizes | (typeof readingNames)[number]

interface DrawingProps {
  of: DrawingName
  /** It stands where the page begins, and is asked for with it. */
  first?: boolean
}

/**
 * One of `web/drawings`: flat fills, rounded lines of 2, light from the upper left, one face for all robots. Each is a file
 * of its own and no code, so that a page loads what comes into view, and no script for it. They decorate: what matters is said
 * in the text beside them.
 */
export function Drawing({ of, first = false }: DrawingProps) {
  const [width, height] = of in sizes ? sizes[of as keyof typeof sizes] : [320, 220]
  return (
    <img
      src={`/drawings/${of}.svg`}
      alt=""
      width={width}
      height={height}
      loading={first ? 'eager' : 'lazy'}
      decoding="async"
      className={styles['drawing']}
    />
  )
}

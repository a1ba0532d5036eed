import type { DrawingName } from './drawing-names.ts'
import { sizes } from './drawing-sizes.ts'
import styles from './Drawing.module.css'

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
      className={styles.drawing}
    />
  )
}

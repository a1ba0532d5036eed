import type { DrawingName } from './drawing-names.ts'
import { sizes } from './drawing-sizes.ts'
import styles from './Drawing.module.css'

interface DrawingProps {
  of: DrawingName
  /** It is at the top of the page and loaded eagerly. */
  first?: boolean
}

/**
 * A drawing of `web/drawings`: flat fills, rounded lines of 2, light from the upper left, one face for all robots. Each is
 * a file, so that a page loads those that come into view, without scripts. Decorative: the information is
 * in the text beside it.
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

import styles from './Skeleton.module.css'

/** Holds the place of what is still loading. Put `aria-busy` on what surrounds it. */
export function Skeleton({ width = '100%', height = '1em' }: { width?: string; height?: string }) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
}

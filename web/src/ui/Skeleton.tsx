import styles from './Skeleton.module.css'

/** A loading placeholder. Put `aria-busy` on its container. */
export function Skeleton({ width = '100%', height = '1em' }: { width?: string; height?: string }) {
  return <span className={styles.skeleton} style={{ width, height }} aria-hidden="true" />
}

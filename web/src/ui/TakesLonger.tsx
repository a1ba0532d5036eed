import styles from './TakesLonger.module.css'

/**
 * Says so where loading takes longer than a second: for whatever is shown meanwhile. A style sheet's work, as it may be the
 * script that is late. It has its room from the start.
 */
export function TakesLonger() {
  return <output className={styles.note}>This is taking longer than usual.</output>
}

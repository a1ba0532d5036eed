import styles from './TakesLonger.module.css'

/**
 * A message that appears if loading takes longer than a second. By CSS alone, as the late file may be the
 * script. Its space is reserved.
 */
export function TakesLonger() {
  return <output className={styles.note}>This is taking longer than usual.</output>
}

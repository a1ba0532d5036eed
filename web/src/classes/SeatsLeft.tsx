import styles from './SeatsLeft.module.css'

/** The seats that a class date has left; the last few are highlighted. */
export function SeatsLeft({ of: left }: { of: number }) {
  if (left === 0) return <span className={styles.seats}>Class full</span>
  return (
    <span className={`${styles.seats} ${left <= 3 ? styles.few : styles.free}`}>
      {left === 1 ? '1 seat left' : `${left} seats left`}
    </span>
  )
}

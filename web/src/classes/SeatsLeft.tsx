import { fullText } from '@robokids/contracts/waitlist-texts'
import styles from './SeatsLeft.module.css'

/** The seats that a class date has left; the last few are highlighted. A full one says how many families wait for it. */
export function SeatsLeft({ of: left, waiting = 0 }: { of: number; waiting?: number | undefined }) {
  if (left === 0)
    return waiting > 0 ? <span>{fullText(waiting)}</span> : <span className={styles.seats}>Class full</span>
  return (
    <span className={`${styles.seats} ${left <= 3 ? styles.few : styles.free}`}>
      {left === 1 ? '1 seat left' : `${left} seats left`}
    </span>
  )
}

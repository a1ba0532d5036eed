import { paymentPageMinutes, unopenedHoldMinutes } from '@robokids/contracts/seat-hold'
import styles from '../forms/Form.module.css'

/** How long a seat is held for its payment. */
export function HoldNote() {
  return (
    <p className={styles.aside}>
      {`A seat is held for ${unopenedHoldMinutes} minutes. Once the card page is open, it is held for as long as you can pay there: ${paymentPageMinutes} minutes.`}
    </p>
  )
}

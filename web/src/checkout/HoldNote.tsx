import { paymentPageMinutes, unopenedHoldMinutes } from '@robokids/contracts/seat-hold'
import styles from '../forms/Form.module.css'

/** How long a seat is held for its payment. */
export function HoldNote() {
  return (
    <p className={styles.aside}>
      {`We hold your seat for ${unopenedHoldMinutes} minutes. Once the card page opens, you have ${paymentPageMinutes} minutes to pay.`}
    </p>
  )
}

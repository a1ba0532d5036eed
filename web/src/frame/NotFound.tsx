import { ButtonLink } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import styles from './NotFound.module.css'

export function NotFound() {
  return (
    <div className={styles.page}>
      <div className={styles.picture}>
        <Drawing of="lost-robot" first />
      </div>
      <h1>This page took itself apart</h1>
      <p className={styles.text}>
        There’s nothing at this address, at least not yet. The robot is looking for the missing parts; you can continue
        here.
      </p>
      <div className={styles.actions}>
        <ButtonLink to="/">Go to the home page</ButtonLink>
        <ButtonLink to="/robokidslanding" variant="secondary">
          View Classes
        </ButtonLink>
      </div>
    </div>
  )
}

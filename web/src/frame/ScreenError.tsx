import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import styles from './NotFound.module.css'

/** A screen that failed to render. If its code was removed by a deployment, only a reload helps. */
export function ScreenError({ error, reset }: ErrorComponentProps) {
  const router = useRouter()
  const codeMissing = error instanceof TypeError && /module|import/i.test(error.message)
  const retry = () => {
    if (codeMissing) window.location.reload()
    else {
      reset()
      void router.invalidate()
    }
  }
  return (
    <div className={styles.page} role="alert">
      <div className={styles.picture}>
        <Drawing of="bug-robot" />
      </div>
      <h1>Something went wrong</h1>
      <p className={styles.text}>
        We couldn’t show this page. It’s not your fault. Please try again, or come back in a few minutes.
      </p>
      <div className={styles.actions}>
        <Button onClick={retry}>Try again</Button>
        <ButtonLink to="/" variant="secondary">
          Go to the home page
        </ButtonLink>
      </div>
    </div>
  )
}

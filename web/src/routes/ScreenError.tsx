import { type ErrorComponentProps, useRouter } from '@tanstack/react-router'
import { Button, ButtonLink } from '../ui/Button.tsx'
import styles from './ScreenError.module.css'

/** A screen that could not be shown. Its code may be gone with an older version of the site: then only a new load helps. */
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
    <div className={styles['screen']} role="alert">
      <h1>Something went wrong</h1>
      <p>
        This page could not be shown. It is not your doing. Please try again; if it stays like this, come back in a few
        minutes.
      </p>
      <div className={styles['actions']}>
        <Button onClick={retry}>Try again</Button>
        <ButtonLink to="/" variant="secondary">
          Go to the home page
        </ButtonLink>
      </div>
    </div>
  )
}

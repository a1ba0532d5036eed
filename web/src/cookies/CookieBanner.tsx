import { Button } from '../ui/Button.tsx'
import styles from './CookieBanner.module.css'

/** Part of the document, like the footer; `follow-cookie-banner.ts` makes it work. */
export function CookieBanner() {
  return (
    <section className={styles.banner} aria-label="Cookies">
      <div className={styles.inner}>
        <p>
          This site uses cookies. Read our{' '}
          <a href="/privacy" target="_blank" rel="noopener noreferrer">
            Privacy Policy<span className="visually-hidden"> (opens in a new tab)</span>
          </a>{' '}
          and{' '}
          <a href="/terms" target="_blank" rel="noopener noreferrer">
            Terms of Service<span className="visually-hidden"> (opens in a new tab)</span>
          </a>
          .
        </p>
        <Button variant="secondary">Accept</Button>
      </div>
    </section>
  )
}

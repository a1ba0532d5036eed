import { Outlet } from '@tanstack/react-router'
import { CookieBanner } from './CookieBanner.tsx'
import { Footer } from './Footer.tsx'
import styles from './Frame.module.css'
import { TopNavigation } from './TopNavigation.tsx'

/** What every page stands in. */
export function Frame() {
  return (
    <div className={styles['frame']}>
      <a
        href="#main"
        className={styles['skip']}
        onClick={(event) => {
          // The address stays as it is: a fragment would be one more page to go back from.
          event.preventDefault()
          document.getElementById('main')?.focus()
        }}
      >
        Skip to content
      </a>
      <TopNavigation />
      <main id="main" tabIndex={-1} className={styles['main']}>
        <Outlet />
      </main>
      <Footer />
      <CookieBanner />
    </div>
  )
}

import { local } from '../browser/storage.ts'
import styles from './CookieBanner.module.css'

/** Has the cookie banner answer. It is the document's, and found by its class as the footer is: `followFooter` says why. */
export function followCookieBanner(): void {
  const banner = document.querySelector(`.${styles.banner}`)
  banner?.querySelector('button')?.addEventListener('click', () => {
    local.set('cookiesAccepted', 'true')
    document.documentElement.dataset['cookies'] = ''
    banner.remove()
    // The button that had it is gone: keys go on with the page.
    document.getElementById('main')?.focus({ preventScroll: true })
  })
}

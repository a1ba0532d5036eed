import { local } from '../browser/storage.ts'
import styles from './CookieBanner.module.css'

/** Makes the cookie banner work. It is part of the document and found by its class, like the footer: see `followFooter`. */
export function followCookieBanner(): void {
  const banner = document.querySelector(`.${styles.banner}`)
  banner?.querySelector('button')?.addEventListener('click', () => {
    local.set('cookiesAccepted', 'true')
    document.documentElement.dataset['cookies'] = ''
    banner.remove()
    // The focused button was removed: keyboard users continue with the page.
    document.getElementById('main')?.focus({ preventScroll: true })
  })
}

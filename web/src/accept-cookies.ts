import { local } from './storage.ts'

const page = document.documentElement

/** The page keeps as much room free below its end as the banner takes, so that it covers nothing for good. */
function keep(height: number): void {
  // Set where it counts: as a property that the whole page inherits, it would have all of it styled anew.
  page.style.scrollPaddingBottom = height ? `calc(${height}px + var(--s4))` : ''
  page.style.paddingBottom = height ? `${height}px` : ''
}

/** Has the cookie banner answer, unless it was accepted before. */
export function followCookieBanner(): void {
  const banner = document.querySelector<HTMLElement>('[data-cookie-banner]')
  if (!banner || 'cookies' in page.dataset) return
  const watch = new ResizeObserver(() => keep(banner.offsetHeight))
  watch.observe(banner)
  banner.querySelector('button')?.addEventListener('click', () => {
    local.set('cookiesAccepted', 'true')
    watch.disconnect()
    banner.remove()
    keep(0)
    // The button that had it is gone: keys go on with the page.
    document.getElementById('main')?.focus({ preventScroll: true })
  })
}

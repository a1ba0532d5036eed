import { type ReactNode, useEffect, useRef } from 'react'
import cookies from '../cookies/CookieBanner.module.css'
import styles from './PayBar.module.css'
import { SaleTerms } from './SaleTerms.tsx'

interface PayBarProps {
  /** The total. */
  total: ReactNode
  /** The discount. */
  saving?: ReactNode
  /** The button that leads to the payment. */
  children: ReactNode
}

/**
 * The total and the payment button: at the end of a form, and fixed to the bottom of the window until the end is
 * reached. Focused elements are scrolled clear of it.
 */
export function PayBar({ total, saving, children }: PayBarProps) {
  const bar = useRef<HTMLDivElement>(null)

  useEffect(() => {
    const banner = document.querySelector<HTMLElement>(`.${cookies.banner}`)
    if (!banner) return
    // Also called, with a height of zero, when the banner disappears.
    const watch = new ResizeObserver(() => {
      if (bar.current) bar.current.style.bottom = `${banner.offsetHeight}px`
    })
    watch.observe(banner)
    return () => watch.disconnect()
  }, [])

  return (
    <div ref={bar} className={styles.bar} data-pay-bar="">
      <div className={styles.told} aria-live="polite">
        <div className={styles.total}>{total}</div>
        {saving && <p className={styles.saving}>{saving}</p>}
      </div>
      {children}
      <SaleTerms />
    </div>
  )
}

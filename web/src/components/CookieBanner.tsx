import { useEffect, useRef } from 'react'
import { local } from '../storage.ts'
import { Button } from '../ui/Button.tsx'
import { useKeptState } from '../use-kept-state.ts'
import styles from './CookieBanner.module.css'

const acceptedKey = 'cookiesAccepted'

export function CookieBanner() {
  const [accepted, setAccepted] = useKeptState(false, () => local.get(acceptedKey) === 'true')
  if (accepted) return null
  return (
    <Banner
      onAccept={() => {
        local.set(acceptedKey, 'true')
        setAccepted(true)
        // The button that has it goes: keys go on with the page.
        document.getElementById('main')?.focus({ preventScroll: true })
      }}
    />
  )
}

function Banner({ onAccept }: { onAccept: () => void }) {
  const banner = useRef<HTMLElement>(null)

  // The page keeps as much room free below its end as the banner takes, so that it covers nothing for good.
  useEffect(() => {
    const element = banner.current
    if (!element) return
    const page = document.documentElement
    const keep = (height: number) => {
      // Set where it counts: as a property that the whole page inherits, it would have all of it styled anew.
      page.style.scrollPaddingBottom = height ? `calc(${height}px + var(--s4))` : ''
      page.style.paddingBottom = height ? `${height}px` : ''
    }
    const watch = new ResizeObserver(() => keep(element.offsetHeight))
    watch.observe(element)
    return () => {
      watch.disconnect()
      keep(0)
    }
  }, [])

  return (
    <section ref={banner} className={styles['banner']} aria-label="Cookies">
      <div className={styles['inner']}>
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
        <Button variant="secondary" onClick={onAccept}>
          Accept
        </Button>
      </div>
    </section>
  )
}

import { type ReactNode, useEffect, useRef } from 'react'
import styles from './AccountPage.module.css'

interface AccountPageProps {
  title: ReactNode
  /** The text below the title. */
  lead?: ReactNode
  /** Changes when the same address shows a new step: the focus then moves to its heading. */
  step?: string
  children: ReactNode
}

/** A page with a single form, on a sheet in the middle. */
export function AccountPage({ title, lead, step = '', children }: AccountPageProps) {
  const sheet = useRef<HTMLDivElement>(null)
  const shown = useRef(step)
  useEffect(() => {
    if (shown.current === step) return
    shown.current = step
    sheet.current?.querySelector<HTMLElement>('h1')?.focus()
  }, [step])
  return (
    <div className={styles.ground}>
      <div ref={sheet} className={styles.sheet}>
        <header className={styles.head}>
          <h1 tabIndex={-1}>{title}</h1>
          {lead && <p className={styles.lead}>{lead}</p>}
        </header>
        {children}
      </div>
    </div>
  )
}

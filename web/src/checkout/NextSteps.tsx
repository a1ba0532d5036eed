import type { ReactNode } from 'react'
import { Icon } from '../ui/Icon.tsx'
import styles from './NextSteps.module.css'

export interface NextStep {
  title: string
  done?: boolean
  text: ReactNode
}

/** The steps after the payment. */
export function NextSteps({ steps }: { steps: readonly NextStep[] }) {
  return (
    <section aria-labelledby="next-heading" className={styles.next}>
      <h2 id="next-heading">What happens next</h2>
      <ol className={styles.steps}>
        {steps.map(({ title, done = false, text }, index) => (
          <li key={title} className={`${styles.step} ${done ? styles.done : ''}`}>
            <span className={styles.dot} aria-hidden="true">
              {done ? <Icon name="done" size={14} /> : index + 1}
            </span>
            <div>
              <h3>
                <span>{title}</span>
                {done && <span className="visually-hidden"> (done)</span>}
              </h3>
              <div className={styles.text}>{text}</div>
            </div>
          </li>
        ))}
      </ol>
    </section>
  )
}

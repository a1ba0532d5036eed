import styles from './Badge.module.css'
import type { Tone } from './card-state.ts'

const signs: Record<Tone, string> = { done: 'm3.5 8.5 3 3 6-7', note: 'M8 4.5V8l2.5 1.5', wrong: 'M8 4v4.5m0 3v.2' }

/** A state in a word, with a sign, so that it does not depend on its color. */
export function Badge({ tone, children }: { tone: Tone; children: string }) {
  return (
    <span className={`${styles.badge} ${styles[tone]}`}>
      <svg viewBox="0 0 16 16" width="14" height="14" aria-hidden="true">
        {tone === 'note' && <circle cx="8" cy="8" r="6.5" />}
        <path d={signs[tone]} />
      </svg>
      <span>{children}</span>
    </span>
  )
}

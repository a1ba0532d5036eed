import { Icon } from './Icon.tsx'
import styles from './Steps.module.css'

const steps = [
  { id: 'register', label: 'Register' },
  { id: 'pay', label: 'Pay' },
  { id: 'waiver', label: 'Sign waiver' },
  { id: 'kit', label: 'Kit ships' },
] as const

/** The steps from the form to the kit; those before `current` are done. */
export function Steps({ current }: { current: (typeof steps)[number]['id'] }) {
  const at = steps.findIndex(({ id }) => id === current)
  return (
    <nav aria-label="Enrollment steps">
      <ol className={styles.steps}>
        {steps.map(({ id, label }, index) => (
          <li
            key={id}
            className={`${styles.step} ${index < at ? styles.done : ''} ${index === at ? styles.now : ''}`}
            aria-current={index === at ? 'step' : undefined}
          >
            <span className={styles.dot} aria-hidden="true">
              {index < at ? <Icon name="done" size={14} /> : index + 1}
            </span>
            <span>
              {label}
              {index < at && <span className="visually-hidden"> (done)</span>}
            </span>
          </li>
        ))}
      </ol>
    </nav>
  )
}

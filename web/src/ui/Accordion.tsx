import type { ReactNode } from 'react'
import styles from './Accordion.module.css'
import { Icon } from './Icon.tsx'

interface AccordionProps {
  items: readonly { question: string; answer: ReactNode }[]
}

/** Expandable questions; native `details`, which find-in-page opens too. */
export function Accordion({ items }: AccordionProps) {
  return (
    <div className={styles.accordion}>
      {items.map(({ question, answer }) => (
        <details key={question} className={styles.item}>
          <summary className={styles.question}>
            <span>{question}</span>
            <Icon name="down" />
          </summary>
          <div className={styles.answer}>{typeof answer === 'string' ? <p>{answer}</p> : answer}</div>
        </details>
      ))}
    </div>
  )
}

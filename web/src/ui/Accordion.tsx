import type { ReactNode } from 'react'
import styles from './Accordion.module.css'

interface AccordionProps {
  items: readonly { question: string; answer: ReactNode }[]
}

/** Questions that unfold their answers; the browser's own element, so that find-in-page opens them too. */
export function Accordion({ items }: AccordionProps) {
  return (
    <div className={styles['accordion']}>
      {items.map(({ question, answer }) => (
        <details key={question} className={styles['item']}>
          <summary className={styles['question']}>
            {question}
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              <path
                d="m3 6 5 5 5-5"
                fill="none"
                stroke="currentColor"
                strokeWidth="2"
                strokeLinecap="round"
                strokeLinejoin="round"
              />
            </svg>
          </summary>
          <div className={styles['answer']}>{typeof answer === 'string' ? <p>{answer}</p> : answer}</div>
        </details>
      ))}
    </div>
  )
}

import type { WaiverDocument } from '@robokids/contracts/enrollment'
import styles from './WaiverText.module.css'

/** The text of the waiver, readable at any width. */
export function WaiverText({ blocks }: Pick<WaiverDocument, 'blocks'>) {
  return (
    <article className={styles.paper} aria-labelledby="waiver-title">
      {blocks.map(({ kind, lines }, index) => {
        const text = lines.join(' ')
        switch (kind) {
          case 'company':
            return (
              <p key={index} className={styles.company}>
                {text}
              </p>
            )
          case 'title':
            return (
              <h2 key={index} id="waiver-title" className={styles.title}>
                {text}
              </h2>
            )
          case 'edition':
            return (
              <p key={index} className={styles.edition}>
                {text}
              </p>
            )
          case 'heading':
            return (
              <h3 key={index} className={styles.heading}>
                {text}
              </h3>
            )
          case 'paragraph':
            return <p key={index}>{text}</p>
          case 'list':
            return (
              <ul key={index} className={styles.list}>
                {lines.map((line) => (
                  <li key={line}>{line}</li>
                ))}
              </ul>
            )
          case 'closing':
            return (
              <p key={index} className={styles.closing}>
                {text}
              </p>
            )
        }
      })}
    </article>
  )
}

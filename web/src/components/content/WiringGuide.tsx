import type { Wiring } from '../../content/wiring.ts'
import { WiringDrawing } from '../../illustrations/WiringDrawing.tsx'
import { RichText } from './RichText.tsx'
import styles from './WiringGuide.module.css'

/** The drawing of a circuit beside the steps that lead to it. */
export function WiringGuide({ wiring }: { wiring: Wiring }) {
  return (
    <div className={styles['wiring']}>
      <div className={styles['drawing']}>
        <WiringDrawing wiring={wiring} />
      </div>
      <ol className={styles['steps']}>
        {wiring.steps.map(({ text, wire }, index) => (
          <li key={index}>
            <RichText text={text} />
            {wire && <span className={`${styles['swatch']} ${styles[wire.color]}`} aria-hidden="true" />}
          </li>
        ))}
      </ol>
    </div>
  )
}

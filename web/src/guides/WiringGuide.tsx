import { RichText } from '../reading/RichText.tsx'
import type { Wiring } from '../reading/wiring.ts'
import drawing from '../ui/Drawing.module.css'
import styles from './WiringGuide.module.css'

/** The drawing of a circuit beside its building steps. */
export function WiringGuide({ wiring }: { wiring: Wiring }) {
  return (
    <div className={styles.wiring}>
      <div className={styles.drawing}>
        <img
          src={`/drawings/wiring-${wiring.id}.svg`}
          alt={`Wiring diagram: ${wiring.title}. The steps describe each connection.`}
          width="360"
          height="352"
          loading="lazy"
          decoding="async"
          className={drawing.drawing}
        />
      </div>
      <ol className={styles.steps}>
        {wiring.steps.map(({ text, wire }, index) => (
          <li key={index}>
            <RichText text={text} />
            {wire && <span className={`${styles.swatch} ${styles[wire.color]}`} aria-hidden="true" />}
          </li>
        ))}
      </ol>
    </div>
  )
}

import type { OwnBlock } from '../reading/blocks.ts'
import { RichText } from '../reading/RichText.tsx'
import styles from '../reading/Blocks.module.css'
import { CodeSample } from './CodeSample.tsx'
import { WiringGuide } from './WiringGuide.tsx'

/** Blocks that only guides have: circuits, sketches, and troubleshooting. */
export function showGuideBlock(block: OwnBlock) {
  switch (block.kind) {
    case 'sketch':
      return <CodeSample sketch={block.sketch} />
    case 'wiring':
      return <WiringGuide wiring={block.wiring} />
    case 'troubles':
      return (
        <dl className={styles.troubles}>
          {block.items.map(({ symptom, help }) => (
            <div key={symptom}>
              <dt>{symptom}</dt>
              <dd>
                <RichText text={help} />
              </dd>
            </div>
          ))}
        </dl>
      )
    case 'message-form':
      return null
    default:
      return block satisfies never
  }
}

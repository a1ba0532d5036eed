import { useEffect, useRef, useState } from 'react'
import type { Sketch } from '../reading/blocks.ts'
import { Button } from '../ui/Button.tsx'
import styles from './CodeSample.module.css'

/** How long the confirmation is shown. */
const thanksMs = 2500

/** A program to copy, highlighted at build time. */
export function CodeSample({ sketch }: { sketch: Sketch }) {
  const code = useRef<HTMLElement>(null)
  const [said, setSaid] = useState('')
  useEffect(() => {
    if (!said) return
    const quiet = setTimeout(() => setSaid(''), thanksMs)
    return () => clearTimeout(quiet)
  }, [said])

  const copy = async () => {
    try {
      await navigator.clipboard.writeText(sourceOf(sketch))
      setSaid('Copied')
    } catch {
      // The browser does not let pages copy: select everything for the keyboard shortcut.
      if (code.current) window.getSelection()?.selectAllChildren(code.current)
      setSaid('Selected: now copy it')
    }
  }

  return (
    <figure className={styles.sample}>
      <figcaption className={styles.head}>
        <span className={styles.name}>{sketch.name}</span>
        <output className={styles.said}>{said}</output>
        <Button variant="secondary" onClick={() => void copy()}>
          Copy<span className="visually-hidden"> {sketch.name}</span>
        </Button>
      </figcaption>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- keys have to reach what is scrolled sideways */}
      <section className={styles.code} tabIndex={0} aria-label={`Sketch ${sketch.name}`}>
        <pre>
          <code ref={code}>
            {sketch.lines.map((line, index) => (
              <span key={index}>
                {line.map(([text, kind], at) =>
                  kind ? (
                    <span key={at} className={styles[kind]}>
                      {text}
                    </span>
                  ) : (
                    text
                  ),
                )}
                {'\n'}
              </span>
            ))}
          </code>
        </pre>
      </section>
    </figure>
  )
}

const sourceOf = ({ lines }: Sketch) => lines.map((line) => `${line.map(([text]) => text).join('')}\n`).join('')

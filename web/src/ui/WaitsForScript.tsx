import { useHydrated } from '../use-hydrated.ts'
import type { ReactNode } from 'react'
import styles from './WaitsForScript.module.css'

/** Fields of a prerendered form: they look as they will, and take nothing before the script is there that would lose it. */
export function WaitsForScript({ children }: { children: ReactNode }) {
  return (
    <fieldset className={styles['fields']} disabled={!useHydrated()}>
      <noscript>
        <p className={styles['note']}>
          This form needs JavaScript. Please turn it on in your browser and load the page again.
        </p>
      </noscript>
      {children}
    </fieldset>
  )
}

import { useEffect, useRef, type ReactNode } from 'react'
import { useHydrated } from '../browser/use-hydrated.ts'
import styles from './DisabledUntilHydrated.module.css'

/**
 * What the browser has put into the fields of a page that just came: a password manager does so as the document arrives. Not
 * what it has kept of a page that one comes back to: what was forgotten since stays forgotten.
 */
function filledIn(fields: HTMLElement): [HTMLInputElement, string][] {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (navigation?.type === 'back_forward') return []
  return [...fields.querySelectorAll('input')]
    .filter(({ value, defaultValue }) => value !== '' && value !== defaultValue)
    .map((input) => [input, input.value])
}

/** Tells React what stands in a field as if it were typed now: it takes what was there before it came for known. */
function type(input: HTMLInputElement, text: string): void {
  input.value = ''
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text)
  input.dispatchEvent(new Event('input', { bubbles: true }))
}

/**
 * Fields of a prerendered form: they look as they will, and take nothing from people before the script is there that would
 * lose it. What the browser fills in all the same stays.
 */
export function DisabledUntilHydrated({ children }: { children: ReactNode }) {
  const hydrated = useHydrated()
  const fields = useRef<HTMLFieldSetElement>(null)
  const filled = useRef<[HTMLInputElement, string][]>([])
  useEffect(() => {
    if (!fields.current) return
    // The form's own state comes with its first change, and leaves nothing else in the fields.
    if (!hydrated) filled.current = filledIn(fields.current)
    // Each by itself, after this: an effect's changes come to the form all at once, and each would undo the one before.
    else queueMicrotask(() => filled.current.splice(0).forEach(([input, text]) => type(input, text)))
  }, [hydrated])
  return (
    <fieldset ref={fields} className={styles.fields} disabled={!hydrated}>
      <noscript>
        <p className={styles.note}>
          This form needs JavaScript. Please turn it on in your browser and load the page again.
        </p>
      </noscript>
      {children}
    </fieldset>
  )
}

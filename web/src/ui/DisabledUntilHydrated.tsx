import { useEffect, useRef, type ReactNode } from 'react'
import { useHydrated } from '../browser/use-hydrated.ts'
import styles from './DisabledUntilHydrated.module.css'

/**
 * Values that the browser filled into a new document before hydration, as password managers do. Not those that it
 * restored with a page from the history: cleared values stay cleared.
 */
function filledIn(fields: HTMLElement): [HTMLInputElement, string][] {
  const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[]
  if (navigation?.type === 'back_forward') return []
  return [...fields.querySelectorAll('input')]
    .filter(({ value, defaultValue }) => value !== '' && value !== defaultValue)
    .map((input) => [input, input.value])
}

/** Dispatches an input event for a filled-in value: React takes values from before hydration for known. */
function type(input: HTMLInputElement, text: string): void {
  input.value = ''
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text)
  input.dispatchEvent(new Event('input', { bubbles: true }))
}

/**
 * The fields of a prerendered form: styled as enabled, but disabled until hydration, which would lose what users type
 * before. What the browser fills in is kept.
 */
export function DisabledUntilHydrated({ children }: { children: ReactNode }) {
  const hydrated = useHydrated()
  const fields = useRef<HTMLFieldSetElement>(null)
  const filled = useRef<[HTMLInputElement, string][]>([])
  useEffect(() => {
    if (!fields.current) return
    // The first change renders the form's state, which would overwrite the other fields.
    if (!hydrated) filled.current = filledIn(fields.current)
    // Each in a task of its own: changes in one effect are batched, and each would undo the one before.
    else queueMicrotask(() => filled.current.splice(0).forEach(([input, text]) => type(input, text)))
  }, [hydrated])
  return (
    <fieldset ref={fields} className={styles.fields} disabled={!hydrated}>
      <noscript>
        <p className={styles.note}>
          This form needs JavaScript. Please turn it on in your browser and reload the page.
        </p>
      </noscript>
      {children}
    </fieldset>
  )
}

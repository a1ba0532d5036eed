import { type FocusEvent, type ReactNode, useEffect, useRef } from 'react'
import { Icon } from './Icon.tsx'
import styles from './Toast.module.css'
import { useAttention } from './use-attention.ts'

/** How long it stays. The timer restarts after hover, focus, or a visit to another tab. */
const staysMs = 7_000

/** A message about what was done. Each is a new object, so that the same text is announced again. */
export interface Toasted {
  text: string
  /** A link to the result, or a button to undo it. */
  action?: ReactNode
}

interface ToastProps {
  message: Toasted | null
  onClose: () => void
}

/**
 * Announces what has just been done, without taking the focus. It disappears by itself, and can be closed; for what has to
 * be read, use a `Notice` or an `Alert`.
 */
export function Toast({ message, onClose }: ToastProps) {
  const { held, attention } = useAttention()
  const toast = useRef<HTMLDivElement>(null)
  const cameFrom = useRef<Element | null>(null)

  const close = () => {
    // Returns keyboard users to where they were.
    const at = document.activeElement
    if (at instanceof HTMLElement && toast.current?.contains(at)) {
      if (cameFrom.current instanceof HTMLElement) cameFrom.current.focus()
      else at.blur()
    }
    onClose()
  }

  useEffect(() => {
    if (!message || held) return
    const timer = setTimeout(onClose, staysMs)
    return () => clearTimeout(timer)
    // oxlint-disable-next-line react/exhaustive-deps -- a new function is no news
  }, [message, held])

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches over what can be pressed in it
    <div
      ref={toast}
      className={message ? styles.toast : undefined}
      {...attention}
      onFocus={(event: FocusEvent<HTMLDivElement>) => {
        if (!event.currentTarget.contains(event.relatedTarget)) cameFrom.current = event.relatedTarget
        attention.onFocus(event)
      }}
      onKeyDown={(event) => {
        if (event.key === 'Escape') close()
      }}
    >
      {/* A live region has to exist before its text appears. */}
      <output className={styles.text}>{message?.text}</output>
      {message && (
        <>
          {message.action}
          <button type="button" className={styles.close} onClick={close}>
            <span className="visually-hidden">Dismiss</span>
            <Icon name="close" />
          </button>
        </>
      )}
    </div>
  )
}

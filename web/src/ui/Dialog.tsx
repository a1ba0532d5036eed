import { type ReactNode, useEffect, useId, useRef } from 'react'
import styles from './Dialog.module.css'
import { Modal } from './Modal.tsx'

interface DialogProps {
  open: boolean
  title: string
  /** An `alertdialog` opens by itself: it gets the focus at its title, so that input meant for the page does nothing in it. */
  role?: 'alertdialog'
  onClose: () => void
  children: ReactNode
}

/** A modal question. */
export function Dialog({ open, title, role, onClose, children }: DialogProps) {
  const titleId = useId()
  const heading = useRef<HTMLHeadingElement>(null)
  useEffect(() => {
    if (open && role) heading.current?.focus()
  }, [open, role])
  return (
    <Modal open={open} onClose={onClose} {...(role ? { role } : {})} labelledBy={titleId} className={styles.dialog}>
      <div className={styles.content}>
        <h2 id={titleId} ref={heading} tabIndex={role && -1} className={styles.title}>
          {title}
        </h2>
        {children}
      </div>
    </Modal>
  )
}

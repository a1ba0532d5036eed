import { type ReactNode, useId } from 'react'
import styles from './Dialog.module.css'
import { Modal } from './Modal.tsx'

interface DialogProps {
  open: boolean
  title: string
  onClose: () => void
  children: ReactNode
}

/** A question that has to be answered, or closed, before one goes on. */
export function Dialog({ open, title, onClose, children }: DialogProps) {
  const titleId = useId()
  return (
    <Modal open={open} onClose={onClose} labelledBy={titleId} className={styles['dialog']}>
      <div className={styles['content']}>
        <h2 id={titleId} className={styles['title']}>
          {title}
        </h2>
        {children}
      </div>
    </Modal>
  )
}

import { type ReactNode, useId } from 'react'
import styles from './Alert.module.css'
import { Button } from './Button.tsx'
import { Modal } from './Modal.tsx'

interface AlertProps {
  /** The message; closed while null. */
  message: string | null
  /** A way on, before the button that closes it. */
  action?: ReactNode
  /** Called once per message, when it is closed. */
  onClose: () => void
}

/** A modal message. */
export function Alert({ message, action, onClose }: AlertProps) {
  const messageId = useId()
  return (
    <Modal open={message !== null} onClose={onClose} role="alertdialog" labelledBy={messageId} className={styles.alert}>
      <div className={styles.content}>
        <p id={messageId}>{message}</p>
        {action}
        <Button variant={action ? 'secondary' : 'primary'} onClick={onClose}>
          OK
        </Button>
      </div>
    </Modal>
  )
}

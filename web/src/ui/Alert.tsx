import { useId } from 'react'
import styles from './Alert.module.css'
import { Button } from './Button.tsx'
import { Modal } from './Modal.tsx'

interface AlertProps {
  /** The message; closed while null. */
  message: string | null
  /** Called once per message, when it is closed. */
  onClose: () => void
}

/** A modal message. */
export function Alert({ message, onClose }: AlertProps) {
  const messageId = useId()
  return (
    <Modal open={message !== null} onClose={onClose} role="alertdialog" labelledBy={messageId} className={styles.alert}>
      <div className={styles.content}>
        <p id={messageId}>{message}</p>
        <Button onClick={onClose}>OK</Button>
      </div>
    </Modal>
  )
}

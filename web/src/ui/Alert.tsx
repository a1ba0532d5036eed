import { useId } from 'react'
import styles from './Alert.module.css'
import { Button } from './Button.tsx'
import { Modal } from './Modal.tsx'

interface AlertProps {
  /** What to say; nothing is shown while it is null. */
  message: string | null
  /** It was read: called once for each message. */
  onClose: () => void
}

/** A message that has to be read before one goes on. */
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

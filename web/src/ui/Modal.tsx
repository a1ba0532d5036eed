import { type ReactNode, useEffect, useRef } from 'react'

interface ModalProps {
  open: boolean
  /** Called on Escape or a click on the backdrop: `open` must become false. */
  onClose: () => void
  className?: string | undefined
  role?: 'dialog' | 'alertdialog'
  /** The id of the element that labels it. */
  labelledBy?: string
  label?: string
  children: ReactNode
}

/** The native modal dialog: the page behind is inert, Escape closes it, and the focus returns to where it was. */
export function Modal({ open, onClose, className, role, labelledBy, label, children }: ModalProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const shown = useRef(false)
  useEffect(() => {
    const element = dialog.current
    if (!open || !element) return
    element.showModal()
    shown.current = true
    return () => {
      shown.current = false
      element.close()
    }
  }, [open])
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions, jsx-a11y/click-events-have-key-events -- keys have Escape, which is the dialog's own
    <dialog
      ref={dialog}
      className={className}
      role={role}
      aria-labelledby={labelledBy}
      aria-label={label}
      onClose={() => {
        // Not when `open` closed it.
        if (shown.current) onClose()
      }}
      onClick={(event) => {
        // A click on the dialog element itself is on its backdrop; an alert only closes by its button.
        if (event.target === event.currentTarget && role !== 'alertdialog') onClose()
      }}
    >
      {open && children}
    </dialog>
  )
}

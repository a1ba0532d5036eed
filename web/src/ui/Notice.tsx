import type { ReactNode } from 'react'
import styles from './Notice.module.css'

const signs = {
  info: <path d="M10 9v5m0-8v.2" />,
  success: <path d="m6 10.5 2.8 2.8L14 7.5" />,
  error: <path d="M10 5.5v5m0 3.5v.2" />,
}

interface NoticeProps {
  kind?: keyof typeof signs
  title?: ReactNode
  children?: ReactNode
  /** Announced when it appears; not for notices that are there from the start. */
  live?: boolean
}

export function Notice({ kind = 'info', title, children, live = false }: NoticeProps) {
  return (
    <div
      className={`${styles.notice} ${styles[kind]}`}
      role={live ? (kind === 'error' ? 'alert' : 'status') : undefined}
    >
      <svg viewBox="0 0 20 20" width="20" height="20" aria-hidden="true" className={styles.sign}>
        <circle cx="10" cy="10" r="8.5" />
        {signs[kind]}
      </svg>
      <div className={styles.words}>
        {title && <p className={styles.title}>{title}</p>}
        {children}
      </div>
    </div>
  )
}

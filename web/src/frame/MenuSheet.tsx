import { Link } from '@tanstack/react-router'
import { Icon } from '../ui/Icon.tsx'
import { Modal } from '../ui/Modal.tsx'
import { mainLinks, moreLinks } from './links.ts'
import styles from './MenuSheet.module.css'

interface MenuSheetProps {
  open: boolean
  onClose: () => void
  /** The email of the signed-in user. */
  email: string | undefined
  onLogout: (() => void) | undefined
}

/** All navigation links, for narrow screens. */
export function MenuSheet({ open, onClose, email, onLogout }: MenuSheetProps) {
  const links = [...mainLinks, ...moreLinks, ...(email ? own : [login])]
  return (
    <Modal open={open} onClose={onClose} label="Menu" className={styles.sheet}>
      <div className={styles.head}>
        <span className={styles.title}>Menu</span>
        <button type="button" className={styles.close} onClick={onClose}>
          <span className="visually-hidden">Close menu</span>
          <Icon name="close" size={24} />
        </button>
      </div>
      <nav aria-label="All pages">
        <ul className={styles.links}>
          {links.map(({ label, to }) => (
            <li key={to}>
              <Link to={to} className={styles.link} activeOptions={{ exact: true }} onClick={onClose}>
                {label}
              </Link>
            </li>
          ))}
          {email && (
            <li>
              <button
                type="button"
                className={styles.link}
                onClick={() => {
                  onClose()
                  onLogout?.()
                }}
              >
                Logout
              </button>
            </li>
          )}
        </ul>
      </nav>
    </Modal>
  )
}

const own = [
  { label: 'Your classes', to: '/dashboard' },
  { label: 'Profile', to: '/profile' },
] as const
const login = { label: 'Log in', to: '/membership/login' } as const

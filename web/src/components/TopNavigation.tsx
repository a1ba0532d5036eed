import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { mainLinks, moreLinks } from '../content/site.ts'
import { Modal } from '../ui/Modal.tsx'
import { Brand } from './Brand.tsx'
import { MoreMenu } from './MoreMenu.tsx'
import { Icon } from '../ui/Icon.tsx'
import styles from './TopNavigation.module.css'

interface TopNavigationProps {
  /** Whose account it is, where somebody is signed in. */
  email?: string | undefined
  onLogout?: (() => void) | undefined
  /** It will be known in a moment: where somebody was signed in before, the room is kept, so that nothing moves then. */
  expected?: boolean
}

/** Fixed at the top of each page; on a narrow screen its links are in a sheet. */
export function TopNavigation({ email, onLogout, expected = false }: TopNavigationProps) {
  const [sheetOpen, setSheetOpen] = useState(false)
  const closeSheet = () => setSheetOpen(false)
  return (
    <header className={styles['header']}>
      <div className={styles['bar']}>
        <Brand />
        <nav aria-label="Main" className={styles['wide']}>
          <ul className={styles['links']}>
            {mainLinks.map(({ label, to }) => (
              <li key={to}>
                <Link to={to} className={styles['link']} activeOptions={{ exact: true }}>
                  {label}
                </Link>
              </li>
            ))}
            <li>
              <MoreMenu />
            </li>
            {!email && expected && (
              <li className={`${styles['links']} ${styles['reserved']}`} aria-hidden="true">
                <span className={styles['link']}>Profile</span>
                <span className={styles['link']}>Logout</span>
              </li>
            )}
            {email && (
              <>
                <li>
                  <Link to="/profile" className={styles['link']} title={email}>
                    Profile
                  </Link>
                </li>
                <li>
                  <button type="button" className={styles['link']} onClick={onLogout}>
                    Logout
                  </button>
                </li>
              </>
            )}
          </ul>
        </nav>
        <button
          type="button"
          className={styles['menu']}
          aria-haspopup="dialog"
          aria-expanded={sheetOpen}
          onClick={() => setSheetOpen(true)}
        >
          <span className="visually-hidden">Menu</span>
          <Icon name="menu" size={24} />
        </button>
      </div>
      <Modal open={sheetOpen} onClose={closeSheet} label="Menu" className={styles['sheet']}>
        <div className={styles['sheetHead']}>
          <span className={styles['sheetTitle']}>Menu</span>
          <button type="button" className={styles['menu']} onClick={closeSheet}>
            <span className="visually-hidden">Close menu</span>
            <Icon name="close" size={24} />
          </button>
        </div>
        <nav aria-label="Main">
          <ul className={styles['sheetLinks']}>
            {[...mainLinks, ...moreLinks].map(({ label, to }) => (
              <li key={to}>
                <Link to={to} className={styles['sheetLink']} activeOptions={{ exact: true }} onClick={closeSheet}>
                  {label}
                </Link>
              </li>
            ))}
            {email && (
              <>
                <li>
                  <Link to="/profile" className={styles['sheetLink']} onClick={closeSheet}>
                    Profile
                  </Link>
                </li>
                <li>
                  <button
                    type="button"
                    className={styles['sheetLink']}
                    onClick={() => {
                      closeSheet()
                      onLogout?.()
                    }}
                  >
                    Logout
                  </button>
                </li>
              </>
            )}
          </ul>
        </nav>
      </Modal>
    </header>
  )
}

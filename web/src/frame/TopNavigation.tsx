import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { CartLink } from '../shop/CartLink.tsx'
import { Icon } from '../ui/Icon.tsx'
import { Brand } from './Brand.tsx'
import { mainLinks } from './links.ts'
import type { MenuSheet } from './MenuSheet.tsx'
import { MoreMenu } from './MoreMenu.tsx'
import styles from './TopNavigation.module.css'

interface TopNavigationProps {
  /** The email of the signed-in user. */
  email?: string | undefined
  onLogout?: (() => void) | undefined
  /** The session is loading: if a user was signed in before, the space is reserved, so that nothing moves. */
  expected?: boolean
}

/**
 * Fixed at the top of each page. Narrow screens show the links to the classes and the account, and all links in a
 * sheet.
 */
export function TopNavigation({ email, onLogout, expected = false }: TopNavigationProps) {
  const [Sheet, setSheet] = useState<typeof MenuSheet>()
  const [sheetOpen, setSheetOpen] = useState(false)
  const openSheet = () =>
    // Wide screens have no button for it.
    import('./MenuSheet.tsx').then(
      (loaded) => {
        setSheet(() => loaded.MenuSheet)
        setSheetOpen(true)
      },
      // The menu has the same links and is loaded with the page.
      () => document.getElementById('footer')?.focus(),
    )
  return (
    <header className={styles.header}>
      <div className={styles.bar}>
        <Brand />
        <nav aria-label="Main">
          <ul className={styles.links}>
            {mainLinks.map(({ label, to }) => (
              <li key={to} className={styles.wide}>
                <Link to={to} className={styles.link} activeOptions={{ exact: true }}>
                  {label}
                </Link>
              </li>
            ))}
            <li className={styles.wide}>
              <MoreMenu />
            </li>
            {!email && (
              <li className={`${styles.narrow} ${expected ? styles.unlessKnown : ''}`}>
                <Link to="/robokidslanding" className={styles.link}>
                  Classes
                </Link>
              </li>
            )}
            <li className={styles.cart}>
              <CartLink />
            </li>
            {!email && expected && (
              <li className={`${styles.links} ${styles.reserved}`} aria-hidden="true">
                <span className={styles.link}>Your classes</span>
                <span className={styles.link}>Profile</span>
                <span className={`${styles.link} ${styles.wide}`}>Logout</span>
              </li>
            )}
            {email ? (
              <>
                <li>
                  <Link to="/dashboard" className={styles.link}>
                    Your classes
                  </Link>
                </li>
                <li>
                  <Link to="/profile" className={styles.link} title={email}>
                    Profile
                  </Link>
                </li>
                <li className={styles.wide}>
                  <button type="button" className={styles.link} onClick={onLogout}>
                    Logout
                  </button>
                </li>
              </>
            ) : (
              <li className={expected ? styles.unlessKnown : undefined}>
                <Link to="/membership/login" className={styles.link}>
                  Log in
                </Link>
              </li>
            )}
          </ul>
        </nav>
        <button
          type="button"
          className={styles.menu}
          aria-haspopup="dialog"
          aria-expanded={sheetOpen}
          onClick={() => void openSheet()}
        >
          <span className="visually-hidden">Menu</span>
          <Icon name="menu" size={24} />
        </button>
      </div>
      {Sheet && <Sheet open={sheetOpen} onClose={() => setSheetOpen(false)} email={email} onLogout={onLogout} />}
    </header>
  )
}

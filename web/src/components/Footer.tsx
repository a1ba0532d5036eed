import { Link } from '@tanstack/react-router'
import styles from './Footer.module.css'

export function Footer() {
  return (
    <footer className={styles['footer']}>
      <div className={styles['inner']}>
        <div>
          <p>© 2025 Robo Kids Learning</p>
          <p className={styles['place']}>Located in Silicon Valley, California.</p>
        </div>
        <nav aria-label="Legal">
          <ul className={styles['links']}>
            <li>
              <Link to="/privacy">Privacy Policy</Link>
            </li>
            <li>
              <Link to="/terms">Terms of Service</Link>
            </li>
          </ul>
        </nav>
      </div>
    </footer>
  )
}

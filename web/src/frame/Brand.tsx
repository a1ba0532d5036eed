import { Link } from '@tanstack/react-router'
import styles from './Brand.module.css'

/** The name and the logo, which each document contains once. */
export function Brand() {
  return (
    <Link to="/" className={styles.brand} aria-label="Robo Kids Learning, home">
      <svg viewBox="0 0 36 36" width="36" height="36" aria-hidden="true" className={styles.sign}>
        <use href="#sign" />
      </svg>
      <span className={styles.name}>{`Robo\u00a0Kids Learning`}</span>
    </Link>
  )
}

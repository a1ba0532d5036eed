import styles from './Brand.module.css'

/** The logo: the face that all robots have. */
export function BrandSign() {
  return (
    <svg width="0" height="0" aria-hidden="true" className={styles.store}>
      <symbol id="sign" viewBox="0 0 36 36">
        <path d="M18 8V4" />
        <circle cx="18" cy="3.5" r="2" fill="var(--signal)" />
        <path
          d="M3 17h3v8H3.500a1.5 1.5 0 0 1-1.5-1.500v-5A1.5 1.5 0 0 1 3 17zm30 0h-3v8h2.500a1.5 1.5 0 0 0 1.5-1.500v-5a1.5 1.5 0 0 0-1-1.500z"
          fill="var(--signal)"
        />
        <rect x="6" y="8" width="24" height="24" rx="8" fill="var(--pic-white)" />
        <rect x="9.5" y="13" width="17" height="12" rx="5" fill="var(--pic-screen)" />
        <circle cx="14.5" cy="18" r="1.8" fill="var(--pic-glow)" stroke="none" />
        <circle cx="21.5" cy="18" r="1.8" fill="var(--pic-glow)" stroke="none" />
        <path d="M16.5 21.500q1.5 1 3 0" stroke="var(--pic-glow)" strokeWidth="1.3" />
      </symbol>
    </svg>
  )
}

import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import styles from './Loading.module.css'

/** Shown while a screen's code loads slowly. */
export function Loading() {
  return (
    <output className={styles.loading} aria-busy="true">
      <span className="visually-hidden">Loading</span>
      <noscript>
        {/* For browsers without scripts only, so the client needs no code for it. */}
        {import.meta.env.SSR && (
          <p>This page needs JavaScript. Please turn it on in your browser and reload the page.</p>
        )}
      </noscript>
      <Skeleton width="min(480px, 80%)" height="3rem" />
      <Skeleton width="min(620px, 100%)" height="1.2rem" />
      <Skeleton width="min(560px, 90%)" height="1.2rem" />
      <TakesLonger />
    </output>
  )
}

import { type ReactNode, useEffect, useState, useSyncExternalStore } from 'react'
import styles from './Slideshow.module.css'

export interface Slide {
  picture: ReactNode
  caption: string
}

interface SlideshowProps {
  label: string
  slides: readonly Slide[]
  /** How long each slide stays. */
  intervalMs: number
}

const reducedMotion = '(prefers-reduced-motion: reduce)'

function followReducedMotion(onChange: () => void) {
  const media = window.matchMedia(reducedMotion)
  media.addEventListener('change', onChange)
  return () => media.removeEventListener('change', onChange)
}

function followVisibility(onChange: () => void) {
  document.addEventListener('visibilitychange', onChange)
  return () => document.removeEventListener('visibilitychange', onChange)
}

/** Pictures that take turns by themselves, and hold still for whoever points at them, tabs to them, or asks for no motion. */
export function Slideshow({ label, slides, intervalMs }: SlideshowProps) {
  const [index, setIndex] = useState(0)
  const [paused, setPaused] = useState(false)
  const [attended, setAttended] = useState(false)
  const still = useSyncExternalStore(followReducedMotion, () => window.matchMedia(reducedMotion).matches)
  const hidden = useSyncExternalStore(followVisibility, () => document.hidden)
  const running = !paused && !attended && !still && !hidden

  useEffect(() => {
    if (!running) return
    const timer = setInterval(() => setIndex((current) => (current + 1) % slides.length), intervalMs)
    return () => clearInterval(timer)
  }, [running, intervalMs, slides.length])

  return (
    <section
      className={styles['slideshow']}
      aria-roledescription="slideshow"
      aria-label={label}
      onPointerEnter={() => setAttended(true)}
      onPointerLeave={() => setAttended(false)}
      onFocus={() => setAttended(true)}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setAttended(false)
      }}
    >
      <div className={styles['stage']} aria-live={running ? 'off' : 'polite'}>
        {slides.map(({ picture, caption }, at) => (
          <figure
            key={caption}
            className={`${styles['slide']} ${at === index ? styles['shown'] : ''}`}
            aria-roledescription="slide"
            aria-hidden={at !== index}
          >
            <div className={styles['picture']} aria-hidden="true">
              {picture}
            </div>
            <figcaption className={styles['caption']}>{caption}</figcaption>
          </figure>
        ))}
      </div>
      <div className={styles['controls']}>
        <span className={styles['count']}>
          {index + 1} of {slides.length}
        </span>
        {!still && (
          <button type="button" className={styles['control']} onClick={() => setPaused(!paused)}>
            <span className="visually-hidden">{paused ? `Play ${label}` : `Pause ${label}`}</span>
            <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
              {paused ? (
                <path d="M4 2.5 13 8l-9 5.5z" fill="currentColor" />
              ) : (
                <path d="M4 3h3v10H4zm5 0h3v10H9z" fill="currentColor" />
              )}
            </svg>
          </button>
        )}
        <button type="button" className={styles['control']} onClick={() => setIndex((index + 1) % slides.length)}>
          <span className="visually-hidden">Next picture of {label}</span>
          <svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true">
            <path
              d="m6 3 5 5-5 5"
              fill="none"
              stroke="currentColor"
              strokeWidth="2"
              strokeLinecap="round"
              strokeLinejoin="round"
            />
          </svg>
        </button>
      </div>
    </section>
  )
}

import type { ReactNode } from 'react'
import styles from './Slideshow.module.css'
import { useTurns } from './use-turns.ts'

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

/** Pictures that take turns by themselves, and hold still for whoever points at them, tabs to them, or asks for no motion. */
export function Slideshow({ label, slides, intervalMs }: SlideshowProps) {
  const { index, show, running, paused, setPaused, still, attention } = useTurns(slides.length, intervalMs)

  return (
    <section className={styles['slideshow']} aria-roledescription="slideshow" aria-label={label} {...attention}>
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
        <button type="button" className={styles['control']} onClick={() => show(index + 1)}>
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

import type { ReactNode } from 'react'
import { Icon } from './Icon.tsx'
import styles from './Slideshow.module.css'
import { useCarousel } from './use-carousel.ts'

export interface Slide {
  picture: ReactNode
  caption: string
}

interface SlideshowProps {
  label: string
  slides: readonly Slide[]
  /** How long each slide is shown. */
  intervalMs: number
}

/** Pictures that advance by themselves, and pause on hover, on focus, and for reduced motion. */
export function Slideshow({ label, slides, intervalMs }: SlideshowProps) {
  const { index, show, running, paused, setPaused, still, attention } = useCarousel(slides.length, intervalMs)

  return (
    <section className={styles.slideshow} aria-roledescription="slideshow" aria-label={label} {...attention}>
      <div className={styles.stage} aria-live={running ? 'off' : 'polite'}>
        {slides.map(({ picture, caption }, at) => (
          <figure
            key={caption}
            className={`${styles.slide} ${at === index ? styles.shown : ''}`}
            aria-roledescription="slide"
            aria-hidden={at !== index}
          >
            <div className={styles.picture} aria-hidden="true">
              {picture}
            </div>
            <figcaption className={styles.caption}>{caption}</figcaption>
          </figure>
        ))}
      </div>
      <div className={styles.controls}>
        <span className={styles.count}>{`${index + 1} of ${slides.length}`}</span>
        <button
          type="button"
          className={`${styles.control} ${still ? styles.still : ''}`}
          onClick={() => setPaused(!paused)}
        >
          <span className="visually-hidden">{paused ? `Play ${label}` : `Pause ${label}`}</span>
          <Icon name={paused ? 'play' : 'pause'} />
        </button>
        <button type="button" className={styles.control} onClick={() => show(index + 1)}>
          <span className="visually-hidden">{`Next picture of ${label}`}</span>
          <Icon name="next" />
        </button>
      </div>
    </section>
  )
}

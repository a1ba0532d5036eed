import type { ReactNode } from 'react'
import { ButtonLink } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Icon } from '../ui/Icon.tsx'
import { useCarousel } from '../ui/use-carousel.ts'
import styles from './HeroSlider.module.css'
import { heroSlides } from './home-texts.ts'

const intervalMs = 7_000

const pictures: Record<(typeof heroSlides)[number]['id'], ReactNode> = {
  classes: <Drawing of="class-scene" first />,
  innovator: <Drawing of="innovator-scene" />,
  guides: <Drawing of="guide-scene" />,
}

/** The hero: three slides in turn. */
export function HeroSlider() {
  const { index, show, running, paused, setPaused, still, attention } = useCarousel(heroSlides.length, intervalMs)
  return (
    <section className={styles.slider} aria-roledescription="carousel" aria-label="What we offer" {...attention}>
      <div className={styles.stage} aria-live={running ? 'off' : 'polite'}>
        {heroSlides.map(({ id, title, text, action, to }, at) => (
          <div
            key={id}
            className={`${styles.slide} ${at === index ? styles.shown : ''}`}
            // oxlint-disable-next-line jsx-a11y/prefer-tag-over-role -- a slide is a group, but no form's
            role="group"
            aria-roledescription="slide"
            aria-label={`${at + 1} of ${heroSlides.length}`}
            inert={at !== index}
          >
            <div className={styles.words}>
              <h2>{title}</h2>
              <p className={styles.text}>{text}</p>
              <ButtonLink to={to}>{action}</ButtonLink>
            </div>
            <div className={styles.picture}>{pictures[id]}</div>
          </div>
        ))}
      </div>
      <div className={styles.controls}>
        <button type="button" className={styles.control} onClick={() => show(index - 1)}>
          <span className="visually-hidden">Previous slide</span>
          <Icon name="previous" size={18} />
        </button>
        <div className={styles.dots}>
          {heroSlides.map(({ id, title }, at) => (
            <button
              key={id}
              type="button"
              className={styles.dot}
              aria-label={`Slide ${at + 1}: ${title}`}
              aria-current={at === index ? 'true' : undefined}
              onClick={() => show(at)}
            />
          ))}
        </div>
        <button type="button" className={styles.control} onClick={() => show(index + 1)}>
          <span className="visually-hidden">Next slide</span>
          <Icon name="next" size={18} />
        </button>
        <button
          type="button"
          // Reserves the space without motion too, so that nothing beside it moves.
          className={`${styles.control} ${still ? styles.still : ''}`}
          onClick={() => setPaused(!paused)}
        >
          <span className="visually-hidden">{paused ? 'Play the slides' : 'Pause the slides'}</span>
          <Icon name={paused ? 'play' : 'pause'} size={18} />
        </button>
      </div>
    </section>
  )
}

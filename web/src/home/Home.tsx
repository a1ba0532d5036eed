import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Drawing } from '../ui/Drawing.tsx'
import { HeroSlider } from './HeroSlider.tsx'
import { features, tagline, values } from './home-texts.ts'
import styles from './Home.module.css'

const valuePictures: Record<(typeof values)[number]['id'], ReactNode> = {
  foundations: <Drawing of="walker" />,
  kits: <Drawing of="kit-box" />,
  safe: <Drawing of="bear" />,
}

const featurePictures: Record<(typeof features)[number]['id'], ReactNode> = {
  classes: <Drawing of="rover" />,
  innovator: <Drawing of="shape-shifter" />,
  guides: <Drawing of="arm" />,
}

export function Home() {
  return (
    <>
      <div className={styles.hero}>
        <div className={styles.inner}>
          <h1 className={styles.tagline}>{tagline}</h1>
          <HeroSlider />
        </div>
      </div>

      <section className={styles.section} aria-label="What you can count on">
        <ul className={styles.values}>
          {values.map(({ id, title, text }) => (
            <li key={id} className={styles.value}>
              <div className={styles.valuePicture}>{valuePictures[id]}</div>
              <div>
                <h2 className={styles.valueTitle}>{title}</h2>
                <p className={styles.soft}>{text}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>

      <section className={styles.section} aria-labelledby="features-heading">
        <h2 id="features-heading">Where would you like to start?</h2>
        <ul className={styles.features}>
          {features.map(({ id, title, text, action, to, accent }) => (
            <li key={id} className={styles.feature} data-accent={accent}>
              <div className={styles.featurePicture}>{featurePictures[id]}</div>
              <div className={styles.featureWords}>
                <h3>
                  <Link to={to} className={styles.cover}>
                    {title}
                  </Link>
                </h3>
                <p className={styles.soft}>{text}</p>
                <p className={styles.go} aria-hidden="true">
                  {`${action} →`}
                </p>
              </div>
            </li>
          ))}
        </ul>
      </section>

      <section className={styles.section} aria-labelledby="spider-heading">
        <div className={styles.spider}>
          <div className={styles.spiderPicture}>
            <Drawing of="spider" />
          </div>
          <div className={styles.spiderWords}>
            <h2 id="spider-heading">
              <Link to="/innovator" className={styles.cover}>
                Meet the spider robot
              </Link>
            </h2>
            <p>
              Eight legs, four eyes, and a lot of patience on uneven ground. Like every robot, it began as a sketch. The
              Innovator Program shows older students how to get from there to a product.
            </p>
            <ul className={styles.parts} aria-label="Its parts">
              <li>8 legs</li>
              <li>16 joints</li>
              <li>4 eyes</li>
              <li>1 idea</li>
            </ul>
            <p className={styles.go} aria-hidden="true">
              See how an idea becomes a robot →
            </p>
          </div>
        </div>
      </section>
    </>
  )
}

import type { ClassesView } from '@robokids/contracts/bff'
import { formatClassDate, formatShortClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Button } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import { classesQuery } from './classes-query.ts'
import { reasons, testimonials } from './landing-texts.ts'
import styles from './Landing.module.css'
import { levels } from './level-looks.ts'
import { LevelCard } from './LevelCard.tsx'

const order = Object.keys(levels) as LevelClassType[]

export function Landing() {
  const classes = useQuery(classesQuery)
  const failed = classes.isError && !classes.data
  return (
    <>
      <div className={styles.hero}>
        <div className={styles.heroInner}>
          <div className={styles.heroWords}>
            <p className={styles.kicker}>Robo Kids Learning</p>
            <h1>Live robotics classes, with the kit shipped to your home</h1>
            <p className={styles.lead}>
              Your child builds a real robot at your table, with a coach on the video call and a small group of 5 to 10.
            </p>
            <ul className={styles.ways} aria-label="Register">
              {order.map((classType) => (
                <Way key={classType} classType={classType} classes={classes.data} failed={failed} />
              ))}
            </ul>
          </div>
          <div className={styles.heroPicture}>
            <Drawing of="kit-box" first />
          </div>
        </div>
      </div>

      <section className={styles.section} aria-labelledby="levels-heading">
        <div className={styles.levelsHead}>
          <h2 id="levels-heading">Four levels</h2>
          <p className={styles.soft}>
            Made for ages 7 to 16. Children 5 and up can join: ages are recommendations.{' '}
            <Link to="/levels">Compare levels</Link> to find the one that fits.
          </p>
        </div>
        {failed ? (
          <Notice kind="error" title="We could not load the dates and prices." live>
            <p>Our server didn’t respond. Nothing is wrong on your end.</p>
            <Button
              variant="secondary"
              onClick={() => void classes.refetch()}
              pending={classes.isFetching}
              pendingLabel="Loading..."
            >
              Try again
            </Button>
          </Notice>
        ) : (
          <Promotion classes={classes.data} />
        )}
        <div className={styles.levels}>
          {order.map((classType) => (
            <LevelCard
              key={classType}
              classType={classType}
              level={classes.data?.levels.find((level) => level.classType === classType)}
              failed={failed}
            />
          ))}
        </div>
        <p className={styles.moreDates}>
          No date that works for you? <Link to="/contact">More dates available</Link>: write to us and we’ll find one
          together.
        </p>
      </section>

      <section className={styles.section} aria-labelledby="why-heading">
        <h2 id="why-heading">Why choose us</h2>
        <ul className={styles.reasons}>
          {reasons.map(({ title, text }) => (
            <li key={title} className={styles.reason}>
              <svg viewBox="0 0 28 28" width="28" height="28" aria-hidden="true" className={styles.tick}>
                <circle cx="14" cy="14" r="12.5" />
                <path d="m8.5 14.5 4 4 7-8" />
              </svg>
              <div>
                <h3>{title}</h3>
                <p className={styles.soft}>{text}</p>
              </div>
            </li>
          ))}
        </ul>
      </section>

      <section className={styles.section} aria-labelledby="families-heading">
        <h2 id="families-heading">What families say</h2>
        <ul className={styles.quotes}>
          {testimonials.map(({ name, location, image, quote }) => (
            <li key={name}>
              <figure className={styles.quote}>
                <blockquote>
                  <p>{`“${quote}”`}</p>
                </blockquote>
                <figcaption className={styles.who}>
                  <span className={styles.avatar}>
                    <Drawing of={image} />
                  </span>
                  <span>
                    <strong>{name}</strong>
                    <br />
                    <span className={styles.soft}>{location}</span>
                  </span>
                </figcaption>
              </figure>
            </li>
          ))}
        </ul>
      </section>
    </>
  )
}

interface WayProps {
  classType: LevelClassType
  classes: ClassesView | undefined
  failed: boolean
}

/** A short link to a level's form: topic, ages, price and first date. */
function Way({ classType, classes, failed }: WayProps) {
  const level = classes?.levels.find((one) => one.classType === classType)
  const { title, recommendedAges } = level ?? openingLevels[classType]
  const words = title.split(' ')
  const next = level?.sessions.find(({ seatsLeft }) => seatsLeft > 0)
  const { path, accent } = levels[classType]
  return (
    <li data-accent={accent}>
      <Link to={path} className={styles.way}>
        <span>{words.slice(0, 2).join(' ')}</span>
        <strong>{words.slice(2).join(' ')}</strong>
        <span>{`Ages ${recommendedAges.from} to ${recommendedAges.to}`}</span>
        <span className={styles.price}>
          {level
            ? `${formatMoney(level.price, true)}${next ? `, from ${formatShortClassDate(next.date)}` : ''}`
            : !failed && <Skeleton width="80%" height="0.9em" />}
        </span>
        <span className={styles.go}>Register</span>
      </Link>
    </li>
  )
}

/** A strip of fixed height: the sibling promotion while it is on, otherwise what the price includes. */
function Promotion({ classes }: { classes: ClassesView | undefined }) {
  const promotion = classes?.promotion
  return (
    <div className={`${styles.strip} ${promotion ? styles.promotion : ''}`} aria-busy={!classes}>
      <Drawing of="siblings" />
      {!classes && (
        <div>
          <Skeleton width="min(32ch, 70%)" />
          <TakesLonger />
        </div>
      )}
      {classes && !promotion && (
        <p>
          <strong>One price, everything included:</strong> the live sessions, the kit and shipping.
        </p>
      )}
      {classes && promotion && (
        <p>
          <strong>Enroll one child and a sibling joins free.</strong>{' '}
          <span>{`${levelNames(classes, promotion.classTypes)}, until ${formatClassDate(promotion.lastDay)}.`}</span>
        </p>
      )}
    </div>
  )
}

/** `Level 1, Level 2 and Level 3` */
function levelNames(classes: ClassesView, classTypes: string[]): string {
  const names = classes.levels
    .filter(({ classType }) => classTypes.includes(classType))
    .map(({ title }) => title.split(' ').slice(0, 2).join(' '))
  // Not by Intl, which takes a phone a moment to load.
  const last = names.pop()
  return names.length > 1 ? `${names.join(', ')}, and ${last}` : [...names, last].join(' and ')
}

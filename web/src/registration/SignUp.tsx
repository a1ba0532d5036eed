import { formatShortClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type LevelOffer, offerOf } from '../classes/class-offer.ts'
import { classesQuery } from '../classes/classes-query.ts'
import { levels } from '../classes/level-looks.ts'
import { nextSteps, type SignUpContent, signUpContent } from '../classes/sign-up-texts.ts'
import { Accordion } from '../ui/Accordion.tsx'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Steps } from '../ui/Steps.tsx'
import styles from './SignUp.module.css'
import { SignUpForm } from './SignUpForm.tsx'
import { SignUpSlideshows } from './SignUpSlideshows.tsx'

export function SignUp({ classType }: { classType: LevelClassType }) {
  const content = signUpContent[classType]
  const classes = useQuery(classesQuery)
  const offer = classes.data && offerOf(classes.data, classType)
  // A failed refetch keeps the current data.
  const failed = classes.isError && !classes.data

  return (
    <div className={styles.page} data-accent={levels[classType].accent}>
      <header className={styles.head}>
        <Steps current="register" />
        <h1>{offer?.title ?? openingLevels[classType].title}</h1>
        <Facts
          content={content}
          offer={offer}
          failed={failed}
          programLength={(offer ?? openingLevels[classType]).programLength}
        />
        {failed && (
          <Notice kind="error" title="We could not load the dates and the price." live>
            <p>What you type here is saved.</p>
            <Button
              variant="secondary"
              onClick={() => void classes.refetch()}
              pending={classes.isFetching}
              pendingLabel="Loading..."
            >
              Try again
            </Button>
          </Notice>
        )}
      </header>
      <div className={styles.columns}>
        <section className={styles.form} aria-labelledby="register-heading">
          <h2 id="register-heading">Register your child</h2>
          <SignUpForm classType={classType} offer={offer} failed={failed} />
        </section>
        <div className={styles.pictures}>
          <SignUpSlideshows classType={classType} />
        </div>
        <div className={styles.about}>
          <About classType={classType} level={offer ?? openingLevels[classType]} />
        </div>
      </div>
    </div>
  )
}

interface FactProps {
  name: string
  className?: string | undefined
  children: ReactNode
}

function Fact({ name, className, children }: FactProps) {
  return (
    <div className={styles.fact}>
      <dt>{name}</dt>
      <dd className={className}>{children}</dd>
    </div>
  )
}

interface FactsProps {
  content: SignUpContent
  offer: LevelOffer | undefined
  failed: boolean
  programLength: string
}

/** The price, the length, the kit and the link to the form; the dates with their seats follow before any other field. */
function Facts({ content, offer, failed, programLength }: FactsProps) {
  // The space is reserved, so that nothing below moves.
  const waiting = failed ? (
    'Not loaded'
  ) : (
    <>
      <Skeleton height="100%" />
      <noscript>Shown with JavaScript turned on</noscript>
    </>
  )
  return (
    <dl className={styles.facts} aria-busy={!offer && !failed}>
      <Fact name="Price" className={styles.priceRoom}>
        {offer ? (
          <>
            <strong className={styles.price}>{formatMoney(offer.price, true)}</strong>{' '}
            <span>per child, everything included</span>
            {offer.siblingJoinsFree ? (
              <span
                className={styles.promotion}
              >{`A sibling joins free${offer.promotionLastDay ? ` until ${formatShortClassDate(offer.promotionLastDay)}` : ''}`}</span>
            ) : (
              <span>Includes the kit and shipping.</span>
            )}
          </>
        ) : (
          waiting
        )}
      </Fact>
      <Fact name="Program">
        <strong>{programLength}</strong>
        <span>Live on a video call, in groups of 5 to 10.</span>
      </Fact>
      <Fact name="In the box">{`${content.boxInShort} Kit styles may vary.`}</Fact>
      <Fact name="What happens next">You pay by card, sign the waiver, and the kit ships before the first class.</Fact>
    </dl>
  )
}

interface AboutProps {
  classType: LevelClassType
  level: Pick<LevelOffer, 'description' | 'recommendedAges' | 'programLength'>
}

function About({ classType, level }: AboutProps) {
  const content = signUpContent[classType]
  return (
    <>
      <section aria-labelledby="about-heading" className={styles.part}>
        <h2 id="about-heading">About this class</h2>
        <p>{level.description}</p>
        <ul className={styles.marks}>
          <li>{`Recommended ages: ${level.recommendedAges.from} to ${level.recommendedAges.to}`}</li>
          <li>{`Program: ${level.programLength}`}</li>
          <li>Groups of 5 to 10 students</li>
        </ul>
        <p className={styles.small}>Overall, our classes are made for ages 7 to 16; children 5 and up can join.</p>
      </section>
      <section aria-labelledby="learn-heading" className={styles.part}>
        <h3 id="learn-heading">What your child will do</h3>
        <ul className={styles.list}>
          {content.learn.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="box-heading" className={styles.part}>
        <h3 id="box-heading">In the box</h3>
        <ul className={styles.list}>
          {content.box.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="next-heading" className={styles.part}>
        <h3 id="next-heading">What happens next</h3>
        <ol className={styles.numbered}>
          {nextSteps.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="faq-heading" className={styles.part}>
        <h2 id="faq-heading">Questions and answers</h2>
        <Accordion items={content.faq} />
        <p>
          Not the right level? <Link to="/levels">Compare levels</Link>. More answers are in the{' '}
          <Link to="/faq">FAQ</Link>.
        </p>
      </section>
    </>
  )
}

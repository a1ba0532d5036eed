import { formatClassTime, formatShortClassDate } from '@robokids/contracts/class-date'
import type { LevelClassType } from '@robokids/contracts/enrollment'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { SignUpForm } from '../components/SignUpForm.tsx'
import { SignUpSlideshows } from '../components/SignUpSlideshows.tsx'
import { levels } from '../content/levels.ts'
import { nextSteps, type SignUpContent, signUpContent } from '../content/sign-up.ts'
import { classesQuery } from '../queries.ts'
import { type LevelOffer, offerOf, seatsLeftText } from '../registration/class-offer.ts'
import { Accordion } from '../ui/Accordion.tsx'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Steps } from '../ui/Steps.tsx'
import styles from './SignUp.module.css'

export function SignUp({ classType }: { classType: LevelClassType }) {
  const content = signUpContent[classType]
  const classes = useQuery(classesQuery)
  const offer = classes.data && offerOf(classes.data, classType)

  return (
    <div className={styles['page']} data-accent={levels[classType].accent}>
      <header className={styles['head']}>
        <Steps current="register" />
        <h1>{offer?.title ?? levels[classType].name}</h1>
        <Facts content={content} offer={offer} failed={classes.isError} />
        {classes.isError && (
          <Notice kind="error" title="We could not load the dates and the price." live>
            <p>What you type here is kept.</p>
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
      <div className={styles['columns']}>
        <section className={styles['form']} aria-labelledby="register-heading">
          <h2 id="register-heading">Register your child</h2>
          <SignUpForm classType={classType} offer={offer} />
        </section>
        <div className={styles['pictures']}>
          <SignUpSlideshows classType={classType} />
        </div>
        <div className={styles['about']}>
          <About classType={classType} offer={offer} failed={classes.isError} />
        </div>
      </div>
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div className={styles['fact']}>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

/** Price, dates with the seats left, the box and the way on: before anything is asked. */
function Facts({ content, offer, failed }: { content: SignUpContent; offer: LevelOffer | undefined; failed: boolean }) {
  // As high as what comes, so that nothing below it moves.
  const waiting = (height: string) => (failed ? 'Not loaded' : <Skeleton height={height} />)
  return (
    <dl className={styles['facts']} aria-busy={!offer && !failed}>
      <Fact name="Price">
        {offer ? (
          <>
            <strong className={styles['price']}>{formatMoney(offer.price, true)}</strong> a child, everything included
            {offer.siblingJoinsFree && (
              <span className={styles['promotion']}>
                A sibling joins free
                {offer.promotionLastDay && ` until ${formatShortClassDate(offer.promotionLastDay)}`}
              </span>
            )}
          </>
        ) : (
          waiting('5.6rem')
        )}
      </Fact>
      <Fact name="Starts">{offer ? <Dates offer={offer} /> : waiting('7.2rem')}</Fact>
      <Fact name="In the box">{content.boxInShort} Kit styles may vary.</Fact>
      <Fact name="What happens next">You pay by card, sign the waiver, and the kit ships before the first class.</Fact>
    </dl>
  )
}

function Dates({ offer }: { offer: LevelOffer }) {
  const first = offer.sessions[0]
  if (!first) return 'No dates are open right now.'
  return (
    <>
      <ul className={styles['dates']}>
        {offer.sessions.map(({ classSessionId, date, seatsLeft }) => (
          <li key={classSessionId}>
            <strong>{formatShortClassDate(date)}</strong> {seatsLeftText(seatsLeft)}
          </li>
        ))}
      </ul>
      <span>{formatClassTime(first.startTime)} Pacific, on a live video call</span>
    </>
  )
}

interface AboutProps {
  classType: LevelClassType
  offer: LevelOffer | undefined
  failed: boolean
}

function About({ classType, offer, failed }: AboutProps) {
  const content = signUpContent[classType]
  return (
    <>
      <section aria-labelledby="about-heading" className={styles['part']}>
        <h2 id="about-heading">About this class</h2>
        {offer ? (
          <>
            <p>{offer.description}</p>
            <ul className={styles['marks']}>
              <li>
                Recommended ages: {offer.recommendedAges.from} to {offer.recommendedAges.to}
              </li>
              <li>Program: {offer.programLength}</li>
              <li>Groups of 5 to 10 students</li>
            </ul>
            <p className={styles['small']}>
              Our classes together are made for ages 7 to 16; children from 5 up can register.
            </p>
          </>
        ) : (
          <>
            <p>{levels[classType].promise}</p>
            {!failed && <Skeleton height="9.5rem" />}
          </>
        )}
      </section>
      <section aria-labelledby="learn-heading" className={styles['part']}>
        <h3 id="learn-heading">What your child will do</h3>
        <ul className={styles['list']}>
          {content.learn.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="box-heading" className={styles['part']}>
        <h3 id="box-heading">In the box</h3>
        <ul className={styles['list']}>
          {content.box.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ul>
      </section>
      <section aria-labelledby="next-heading" className={styles['part']}>
        <h3 id="next-heading">What happens next</h3>
        <ol className={styles['numbered']}>
          {nextSteps.map((item) => (
            <li key={item}>{item}</li>
          ))}
        </ol>
      </section>
      <section aria-labelledby="faq-heading" className={styles['part']}>
        <h2 id="faq-heading">Questions and answers</h2>
        <Accordion items={content.faq} />
      </section>
    </>
  )
}

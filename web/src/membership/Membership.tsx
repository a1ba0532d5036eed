import { formatMoney } from '@robokids/contracts/pricing'
import { periodOf } from '@robokids/contracts/renewal-terms'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useUser } from '../account/use-user.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { memberGets, membershipSteps, planName, planNames, planNote } from './membership-texts.ts'
import styles from './Membership.module.css'
import { amountOf, plansQuery } from './plans-query.ts'

export function Membership() {
  const user = useUser()
  const prices = useQuery(plansQuery)
  const failed = prices.isError && !prices.data
  return (
    <>
      <div className={styles.hero}>
        <div className={styles.heroInner}>
          <div className={styles.words}>
            <p className={styles.kicker}>Membership</p>
            <h1>Your seat at the members’ bench</h1>
            <p className={styles.lead}>
              Members have a session of their own on each class date: live, in a small group, with a coach beside your
              child.
            </p>
            <div className={styles.actions}>
              <ButtonLink to="/membership/register">Become a member</ButtonLink>
              <ButtonLink to={user ? '/profile' : '/membership/login'} variant="secondary">
                {user ? 'Your profile' : 'Login'}
              </ButtonLink>
            </div>
          </div>
          <div className={styles.picture}>
            <Drawing of="class-scene" first />
          </div>
        </div>
      </div>

      <section className={styles.section} aria-labelledby="plans-heading">
        <h2 id="plans-heading">Two ways to pay, one membership</h2>
        {failed && (
          <Notice kind="error" title="We could not load the prices." live>
            <p>Our server didn’t respond. Nothing is wrong on your end.</p>
            <Button
              variant="secondary"
              onClick={() => void prices.refetch()}
              pending={prices.isFetching}
              pendingLabel="Loading..."
            >
              Try again
            </Button>
          </Notice>
        )}
        <div className={styles.plans} aria-busy={prices.isPending}>
          {planNames.map((plan) => {
            const amount = amountOf(plan, prices.data)
            return (
              <Card key={plan} className={styles.plan ?? ''} accent={plan === 'monthly' ? 'blue' : 'green'}>
                <h3>{planName(plan)}</h3>
                {!failed && (
                  <p className={styles.price}>
                    {amount === undefined ? (
                      <strong>
                        <Skeleton width="4ch" />
                      </strong>
                    ) : (
                      <span>
                        <strong>{formatMoney({ amount, currency: 'usd' }, true)}</strong>{' '}
                        <span>{`a ${periodOf(plan)}`}</span>
                      </span>
                    )}
                  </p>
                )}
                <p className={styles.soft}>{planNote(plan, amount)}</p>
                <ButtonLink
                  to="/membership/register"
                  search={{ plan }}
                  variant="secondary"
                >{`Choose ${plan}`}</ButtonLink>
              </Card>
            )
          })}
        </div>
      </section>

      <section className={styles.section} aria-labelledby="gets-heading">
        <h2 id="gets-heading">What members get</h2>
        <ul className={styles.gets}>
          {memberGets.map(({ title, text }) => (
            <li key={title}>
              <h3>{title}</h3>
              <p className={styles.soft}>{text}</p>
            </li>
          ))}
        </ul>
      </section>

      <section className={styles.section} aria-labelledby="how-heading">
        <h2 id="how-heading">How it works</h2>
        <ol className={styles.steps}>
          {membershipSteps.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ol>
        <p className={styles.soft}>
          You register as the parent or guardian, 18 or older. Looking for a class with a kit?{' '}
          <Link to="/robokidslanding">See our classes</Link>.
        </p>
      </section>
    </>
  )
}

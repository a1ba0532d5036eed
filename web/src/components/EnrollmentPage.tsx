import type { ComponentProps, ReactNode } from 'react'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Steps } from '../ui/Steps.tsx'
import styles from './EnrollmentPage.module.css'
import { TakesLonger } from './TakesLonger.tsx'

interface EnrollmentPageProps {
  /** None for a member, whose way is another one. */
  step?: ComponentProps<typeof Steps>['current']
  title: ReactNode
  children: ReactNode
}

/** A screen of the way after the form: where one is, what is true, and what to do now. */
export function EnrollmentPage({ step, title, children }: EnrollmentPageProps) {
  return (
    <div className={styles['page']}>
      {step && <Steps current={step} />}
      <h1 aria-live="polite">{title}</h1>
      {children}
    </div>
  )
}

/** While the registration is on its way: nothing is said that could turn out to be wrong. */
export function EnrollmentLoading({ step }: Pick<EnrollmentPageProps, 'step'>) {
  return (
    <div className={styles['page']} aria-busy="true">
      {step && <Steps current={step} />}
      <h1>One moment</h1>
      <p aria-live="polite">Loading your registration...</p>
      <Skeleton height="12rem" />
      <TakesLonger />
    </div>
  )
}

export function Actions({ children }: { children: ReactNode }) {
  return <div className={styles['actions']}>{children}</div>
}

import type { ComponentProps, ReactNode } from 'react'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Steps } from '../ui/Steps.tsx'
import { TakesLonger } from '../ui/TakesLonger.tsx'
import styles from './StatusPage.module.css'

interface StatusPageProps {
  /** None for a member, who has other steps. */
  step?: ComponentProps<typeof Steps>['current']
  title: ReactNode
  children: ReactNode
}

/** A page of the registration after the form: the step, its status, and what to do now. */
export function StatusPage({ step, title, children }: StatusPageProps) {
  return (
    <div className={styles.page}>
      {step && <Steps current={step} />}
      <h1 aria-live="polite">{title}</h1>
      {children}
    </div>
  )
}

/** Shown while the registration loads, without any claim that could be wrong. */
export function StatusLoading({ step }: Pick<StatusPageProps, 'step'>) {
  return (
    <div className={styles.page} aria-busy="true">
      {step && <Steps current={step} />}
      <h1>One moment</h1>
      <p aria-live="polite">Loading your registration...</p>
      <Skeleton height="12rem" />
      <TakesLonger />
    </div>
  )
}

export function Actions({ children }: { children: ReactNode }) {
  return <div className={styles.actions}>{children}</div>
}

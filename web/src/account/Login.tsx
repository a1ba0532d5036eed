import { useQueryClient } from '@tanstack/react-query'
import { Link, useNavigate, useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { useClientState } from '../browser/use-client-state.ts'
import { Aside, Form, MessageLine, Or, Stack } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { type Message, useSubmit } from '../forms/use-submit.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { AccountPage } from './AccountPage.tsx'
import { EmailField } from './EmailField.tsx'
import { forgetStep, keepStep, readKeptStep } from './kept-step.ts'
import { PasswordChecklist } from './PasswordChecklist.tsx'
import { readPendingUser } from './pending-user.ts'
import { ForgotPasswordForm, ResetPasswordForm } from './ResetPasswordForm.tsx'
import { signOut } from './sign-out.ts'
import { SignInStepForm, stepTitle } from './SignInStepForm.tsx'
import { type SignIn, useSignIn } from './use-sign-in.ts'
import { useUser } from './use-user.ts'

/** Long enough to read the success message. */
const onwardAfterMs = 1_500

/** The views besides the sign-in's own steps. */
type View =
  | { name: 'sign in' }
  | { name: 'forgot' }
  | { name: 'reset'; email: string; sent: string }
  | { name: 'done'; text: string }

const loggedIn = '✅ Logged in.'

declare module '@tanstack/react-router' {
  interface HistoryState {
    signedOutEverywhere?: boolean
    /** The email whose password is to be reset; there may be no account for it. */
    forgotten?: string
    /** The address of the page that asked for the sign-in, which leads back there. */
    cameFor?: string
  }
}

/** Confirms it to a user who comes from the profile page. */
function signedOutEverywhere(): Message | null {
  const state = window.history.state as { signedOutEverywhere?: boolean } | null
  return state?.signedOutEverywhere ? { kind: 'success', text: 'You’re logged out in every browser.' } : null
}

const forgotten = () => (window.history.state as { forgotten?: string } | null)?.forgotten

export function Login() {
  const [view, setView] = useClientState<View>({ name: 'sign in' }, () => {
    const { email, sent } = readKeptStep()
    if (sent !== null) return { name: 'reset', email, sent }
    return { name: forgotten() === undefined ? 'sign in' : 'forgot' }
  })
  const [email, setEmail] = useClientState(
    '',
    () => readKeptStep().email || forgotten() || readPendingUser()?.email || '',
  )
  const [news, setNews] = useClientState<Message | null>(null, signedOutEverywhere)
  const [newPassword, setNewPassword] = useState(false)
  const signIn = useSignIn()
  const user = useUser()
  const { step, signal } = signIn
  const navigate = useNavigate()
  useEffect(() => {
    // Shown once, not after each reload.
    if (signedOutEverywhere()) void navigate({ to: '/membership/login', replace: true, state: {} })
  }, [navigate])

  /** Ignores a response that arrives after the user has gone back. */
  const unlessBack =
    <Given extends unknown[]>(act: (...given: Given) => void) =>
    (...given: Given) => {
      if (!signal.aborted) act(...given)
    }
  const reset = unlessBack((to: string, sent: string) => {
    setEmail(to)
    setView({ name: 'reset', email: to, sent })
    keepStep({ email: to, sent })
  })
  const backToStart = (message: Message | null = null) => {
    signIn.startAgain()
    setNews(message)
    setNewPassword(false)
    setView({ name: 'sign in' })
  }
  const back = (
    <Button variant="quiet" onClick={() => backToStart()}>
      Back to Log In
    </Button>
  )

  if (view.name === 'done' || step?.step === 'DONE') {
    const text =
      view.name === 'done' ? view.text : newPassword ? '✅ Password updated! You are now logged in.' : loggedIn
    return <Done text={text} />
  }
  if (view.name === 'forgot') {
    return (
      <AccountPage
        step="forgot"
        title="Forgot your password"
        lead="We’ll send a code to the email you signed up with. Use it to choose a new password."
      >
        <ForgotPasswordForm email={email} onSent={reset} />
        {back}
      </AccountPage>
    )
  }
  if (view.name === 'reset') {
    return (
      <AccountPage step="reset" title="Choose a new password" lead={view.sent}>
        <ResetPasswordForm
          email={view.email}
          onReset={unlessBack(() => backToStart({ kind: 'success', text: '✅ Password updated! You can now log in.' }))}
        />
        {back}
      </AccountPage>
    )
  }
  if (step) {
    return (
      <AccountPage step={step.step} title={stepTitle(step)}>
        <SignInStepForm
          key={step.step}
          signIn={signIn}
          step={step}
          email={email}
          onConfirmed={unlessBack((signedIn) => {
            if (signedIn) {
              forgetStep()
              setView({ name: 'done', text: '✅ Account confirmed! You are now logged in.' })
            } else backToStart({ kind: 'success', text: '✅ Account confirmed! You can now log in.' })
          })}
          onReset={reset}
          onNewPassword={() => setNewPassword(true)}
          onForgot={(of) => {
            setEmail(of)
            setView({ name: 'forgot' })
          }}
        />
        {back}
      </AccountPage>
    )
  }
  if (user) return <SignedIn email={user.email} refusal={signIn.ended} />
  return (
    <AccountPage step="start" title="Log in" lead="Welcome back. Log in to see your classes, membership and details.">
      <SignInForm
        signIn={signIn}
        email={email}
        onEmail={setEmail}
        news={signIn.ended ?? news}
        onForgot={() => setView({ name: 'forgot' })}
      />
    </AccountPage>
  )
}

interface SignInFormProps {
  signIn: SignIn
  email: string
  onEmail: (email: string) => void
  /** The outcome of the step before this form. */
  news: Message | null
  onForgot: () => void
}

function SignInForm({ signIn, email, onEmail, news, onForgot }: SignInFormProps) {
  const [password, setPassword] = useState('')
  const [shown, setShown] = useState(false)
  const [tried, setTried] = useState(false)
  const setValues = (values: { email: string; password: string }) => {
    onEmail(values.email)
    setPassword(values.password)
  }
  const form = useForm([{ email, password }, setValues], 'Login failed.')

  const begin = (how: { password?: string; preferred?: 'WEB_AUTHN' }) => {
    setTried(true)
    if (email.trim() === '') {
      form.showError('username is required to signIn', { email: 'Enter your email.' })
      return
    }
    if (how.password === '') {
      form.showError('password is required to signIn', { password: 'Enter your password.' })
      return
    }
    form.submit(() => signIn.begin({ email: email.trim(), ...how }))
  }

  return (
    <>
      <Form message={tried ? form.message : news} onSubmit={() => begin({ password })}>
        <EmailField {...form.field('email')} />
        <Field
          {...form.field('password')}
          label="Password"
          type={shown ? 'text' : 'password'}
          autoComplete="current-password"
          autoCapitalize="none"
          spellCheck={false}
          required
        />
        <Checkbox label="Show Password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
        <PasswordChecklist password={password} />
        <Button type="submit" wide pending={form.pending}>
          Log In
        </Button>
        <Button variant="quiet" disabled={form.pending} onClick={onForgot}>
          Forgot your password?
        </Button>
      </Form>
      <Or />
      <Stack>
        <Button variant="secondary" wide disabled={form.pending} onClick={() => begin({ preferred: 'WEB_AUTHN' })}>
          Log in with a passkey
        </Button>
        <Button variant="secondary" wide disabled={form.pending} onClick={() => begin({})}>
          Other ways to log in
        </Button>
      </Stack>
      <Aside>
        No account yet? <Link to="/membership">See membership plans</Link>. Have a code from us?{' '}
        <Link to="/confirm">Confirm your email</Link>.
      </Aside>
    </>
  )
}

function Done({ text }: { text: string }) {
  const router = useRouter()
  const [message] = useState<Message>({ kind: 'success', text })
  // The address is our own: it is in this tab's history, and never taken from a link.
  const [cameFor] = useState(() => (window.history.state as { cameFor?: string } | null)?.cameFor)
  useEffect(() => {
    const timer = setTimeout(() => router.history.replace(cameFor ?? '/dashboard'), onwardAfterMs)
    return () => clearTimeout(timer)
  }, [router, cameFor])
  const toProfile = cameFor?.startsWith('/profile')
  return (
    <AccountPage step="done" title="Welcome">
      <MessageLine message={message} />
      <p>{`Taking you to your ${toProfile ? 'profile' : 'classes'}.`}</p>
      {toProfile ? (
        <ButtonLink to="/profile">Go to your profile</ButtonLink>
      ) : (
        <ButtonLink to="/dashboard">Go to your classes</ButtonLink>
      )}
    </AccountPage>
  )
}

/** A user has to sign out before signing in to another account. */
function SignedIn({ email, refusal }: { email: string; refusal: Message | null }) {
  const queryClient = useQueryClient()
  const state = useSubmit('Could not log out.')
  return (
    <AccountPage step="signed in" title="You are logged in" lead={`As ${email}.`}>
      <MessageLine message={state.message ?? refusal} />
      <Stack>
        <ButtonLink to="/dashboard" wide>
          Go to your classes
        </ButtonLink>
        <Button
          variant="secondary"
          wide
          pending={state.pending}
          onClick={() => state.submit(() => signOut(queryClient))}
        >
          Log out to use another account
        </Button>
      </Stack>
    </AccountPage>
  )
}

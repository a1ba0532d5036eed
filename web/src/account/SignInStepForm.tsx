import type { MfaType, SignInStep } from '@robokids/contracts/auth'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { AccountName, Aside, Form, MessageLine, Stack } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { type Submission, useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Checkbox } from '../ui/Checkbox.tsx'
import { Field } from '../ui/Field.tsx'
import { CodeField } from './CodeField.tsx'
import { ConfirmForm } from './ConfirmForm.tsx'
import { NewPasswordFields, weakPassword } from './NewPasswordFields.tsx'
import { provePasskey } from './passkey.ts'
import { isPasswordGood } from './PasswordChecklist.tsx'
import { ForgotPasswordForm } from './ResetPasswordForm.tsx'
import { TotpSetUp } from './TotpSetUp.tsx'
import type { FirstFactor, SignIn, SignInAnswer } from './use-sign-in.ts'

const loginFailed = 'Login failed.'
const answerRequired = 'challengeResponse is required to confirmSignIn'

const mfaNames: Record<MfaType, string> = {
  TOTP: 'A code from my authenticator app',
  SMS: 'A code by text message',
  EMAIL: 'A code by email',
}
/** Labels for switching to another factor. */
const insteadNames: Record<MfaType, string> = {
  TOTP: 'Use my authenticator app instead',
  SMS: 'Text me a code instead',
  EMAIL: 'Email me a code instead',
}
const firstFactorNames: Record<FirstFactor, string> = {
  PASSWORD: 'My password',
  PASSWORD_SRP: 'My password',
  EMAIL_OTP: 'A code by email',
  SMS_OTP: 'A code by text message',
  WEB_AUTHN: 'A passkey',
}

interface Attribute {
  label: string
  autoComplete?: string
  type?: 'date' | 'email' | 'tel'
}

/** Labels of attributes that an account may lack. */
const attributes: Record<string, Attribute> = {
  email: { label: 'Email', type: 'email', autoComplete: 'email' },
  given_name: { label: 'First name', autoComplete: 'given-name' },
  family_name: { label: 'Last name', autoComplete: 'family-name' },
  birthdate: { label: 'Birthdate', type: 'date', autoComplete: 'bday' },
  phone_number: { label: 'Phone number', type: 'tel', autoComplete: 'tel' },
  address: { label: 'Address', autoComplete: 'off' },
}

/** The page title of a step. */
export function stepTitle({ step }: SignInStep): string {
  switch (step) {
    case 'DONE':
      return 'Welcome back'
    case 'CONFIRM_SIGN_UP':
      return 'Confirm Your Email'
    case 'RESET_PASSWORD':
      return 'Please reset your password'
    case 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED':
      return 'Choose a new password'
    case 'CONFIRM_SIGN_IN_WITH_TOTP_CODE':
      return 'Enter the code from your app'
    case 'CONFIRM_SIGN_IN_WITH_SMS_CODE':
      return 'Enter the code from your phone'
    case 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE':
      return 'Enter the code from your email'
    case 'CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE':
      return 'One more question'
    case 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION':
      return 'How do you want to confirm it’s you?'
    case 'CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION':
      return 'Choose your second step'
    case 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP':
      return 'Set up your authenticator app'
    case 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP':
      return 'Set up codes by email'
    case 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION':
      return 'How do you want to log in?'
    case 'CONFIRM_SIGN_IN_WITH_PASSWORD':
      return 'Enter your password'
    case 'CONFIRM_SIGN_IN_WITH_PASSKEY':
      return 'Use your passkey'
    case 'waiting':
    case 'UNKNOWN':
      return 'One more step'
  }
}

interface StepProps {
  signIn: SignIn
  step: SignInStep
  email: string
  /** The account is confirmed, and signed in or not. */
  onConfirmed: (signedIn: boolean) => void
  /** A password reset code was sent. */
  onReset: (email: string, text: string) => void
  onNewPassword: () => void
  onForgot: (email: string) => void
}

/** The form of each sign-in step. A step without one fails the type check. */
export function SignInStepForm({ signIn, step, email, onConfirmed, onReset, onNewPassword, onForgot }: StepProps) {
  switch (step.step) {
    case 'DONE':
      return null
    case 'waiting':
      return <Unknown name="" />
    case 'UNKNOWN':
      return <Unknown name={step.name} />
    case 'CONFIRM_SIGN_UP':
      return (
        <>
          <p>Your email address isn’t confirmed yet. Enter the code we emailed you when you signed up.</p>
          <ConfirmForm email={email} onConfirmed={onConfirmed} onForgot={onForgot} />
        </>
      )
    case 'RESET_PASSWORD':
      return (
        <>
          <p>Choose a new password to continue. We’ll email you a code first, so no one else can.</p>
          <ForgotPasswordForm email={email} onSent={onReset} />
        </>
      )
    case 'CONFIRM_SIGN_IN_WITH_NEW_PASSWORD_REQUIRED':
      return <NewPassword signIn={signIn} email={email} missing={step.missingAttributes} onDone={onNewPassword} />
    case 'CONFIRM_SIGN_IN_WITH_TOTP_CODE':
      return (
        <CodeStep
          signIn={signIn}
          second
          others={step.others}
          lead="Open your authenticator app and enter the six digits it shows."
        />
      )
    case 'CONFIRM_SIGN_IN_WITH_SMS_CODE':
      return (
        <CodeStep
          signIn={signIn}
          sent
          second={signIn.isSecondStep}
          others={step.others}
          lead={`We texted a code to ${step.delivery.destination}.`}
        />
      )
    case 'CONFIRM_SIGN_IN_WITH_EMAIL_CODE':
      return (
        <CodeStep
          signIn={signIn}
          sent
          second={signIn.isSecondStep}
          others={step.others}
          lead={`We emailed a code to ${step.delivery.destination}.`}
        />
      )
    case 'CONFIRM_SIGN_IN_WITH_CUSTOM_CHALLENGE':
      return <CustomChallenge signIn={signIn} parameters={step.parameters} />
    case 'CONTINUE_SIGN_IN_WITH_MFA_SELECTION':
    case 'CONTINUE_SIGN_IN_WITH_MFA_SETUP_SELECTION':
      return <Choice signIn={signIn} choices={step.choices} names={mfaNames} />
    case 'CONTINUE_SIGN_IN_WITH_FIRST_FACTOR_SELECTION':
      return <Choice signIn={signIn} choices={dedupeFactors(step.choices)} names={firstFactorNames} />
    case 'CONTINUE_SIGN_IN_WITH_TOTP_SETUP':
      return (
        <CodeStep signIn={signIn} lead={<TotpSetUp secret={step.secret} uri={step.uri} />} label="Code from the app" />
      )
    case 'CONTINUE_SIGN_IN_WITH_EMAIL_SETUP':
      return <EmailSetUp signIn={signIn} email={email} />
    case 'CONFIRM_SIGN_IN_WITH_PASSWORD':
      return <Password signIn={signIn} email={email} />
    case 'CONFIRM_SIGN_IN_WITH_PASSKEY':
      return <Passkey signIn={signIn} options={step.options} />
  }
}

/** Both password factors look the same to users: keep the safer one. */
function dedupeFactors(choices: FirstFactor[]): FirstFactor[] {
  return choices.filter((choice) => choice !== 'PASSWORD' || !choices.includes('PASSWORD_SRP'))
}

function Unknown({ name }: { name: string }) {
  return (
    <>
      <MessageLine message={{ kind: 'error', text: name ? `Next step: ${name}` : 'Unknown challenge' }} />
      <p>This page can’t show this step. Please reload it, or try another way.</p>
    </>
  )
}

function OtherWays({ signIn, state }: { signIn: SignIn; state: Submission }) {
  const { chooseAgain } = signIn
  return (
    chooseAgain && (
      <Button variant="quiet" disabled={state.pending} onClick={() => state.submit(chooseAgain)}>
        Try another way
      </Button>
    )
  )
}

interface CodeStepProps {
  signIn: SignIn
  lead: ReactNode
  label?: string
  /** The code was sent, and can be sent again. */
  sent?: boolean
  /** It is the second step, which a trusted browser skips. */
  second?: boolean
  /** Other second steps of the account, as alternatives. */
  others?: readonly MfaType[] | undefined
}

function CodeStep({ signIn, lead, label, sent = false, second = false, others = [] }: CodeStepProps) {
  const [trust, setTrust] = useState(false)
  const form = useForm(useState({ answer: '' }), loginFailed)
  const { repeat } = signIn
  const submit = () => {
    if (form.values.answer.trim() === '') form.showError(answerRequired, { answer: 'Enter the code.' })
    else form.submit(() => signIn.answer({ answer: form.values.answer.trim(), once: true, trust }))
  }
  const resend = (again: () => Promise<void>) =>
    form.submit(async () => {
      await again()
      form.change({ answer: '' })
      form.showSuccess('We sent you a new code.')
    })
  return (
    <>
      {typeof lead === 'string' ? <p>{lead}</p> : lead}
      <Form message={form.message} onSubmit={submit}>
        <CodeField {...form.field('answer')} {...(label ? { label } : {})} />
        {second && (
          <Checkbox
            label="Trust this browser and skip this step from now on"
            checked={trust}
            onChange={(event) => setTrust(event.target.checked)}
          />
        )}
        <Button type="submit" wide pending={form.pending}>
          Continue
        </Button>
        {sent && repeat && (
          <Button variant="quiet" disabled={form.pending} onClick={() => resend(repeat)}>
            Send a new code
          </Button>
        )}
        {others.map((other) => (
          <Button
            key={other}
            variant="quiet"
            disabled={form.pending}
            onClick={() => form.submit(() => signIn.answer({ answer: other, instead: true }))}
          >
            {insteadNames[other]}
          </Button>
        ))}
        {others.length === 0 && <OtherWays signIn={signIn} state={form} />}
      </Form>
      <Aside>
        <span>
          {sent
            ? 'No code yet? Wait a minute, and check your spam folder.'
            : 'Code not accepted? Set your phone’s clock to automatic.'}
        </span>{' '}
        If you can’t get a code anymore, <Link to="/contact">write to us</Link>.
      </Aside>
    </>
  )
}

function CustomChallenge({ signIn, parameters }: { signIn: SignIn; parameters: Record<string, string> }) {
  const form = useForm(useState({ answer: '' }), loginFailed)
  const { answer } = form.values
  const submit = () => {
    if (answer.trim() === '') form.showError(answerRequired, { answer: 'Enter your answer.' })
    else form.submit(() => signIn.answer({ answer: answer.trim(), once: true }))
  }
  return (
    <Form message={form.message} onSubmit={submit}>
      {Object.entries(parameters).map(([name, value]) => (
        <p key={name}>
          <strong>{name}</strong>
          <span>{`: ${value}`}</span>
        </p>
      ))}
      <Field {...form.field('answer')} label="Your answer" autoComplete="off" required />
      <Button type="submit" wide pending={form.pending}>
        Continue
      </Button>
    </Form>
  )
}

function Choice<Kind extends string>({
  signIn,
  choices,
  names,
}: {
  signIn: SignIn
  choices: readonly Kind[]
  names: Record<Kind, string>
}) {
  const state = useSubmit(loginFailed)
  return (
    <>
      <MessageLine message={state.message} />
      {choices.length === 0 && <p>You can’t continue with this account here. Please write to us.</p>}
      <Stack>
        {choices.map((choice) => (
          <Button
            key={choice}
            variant="secondary"
            wide
            disabled={state.pending}
            onClick={() => state.submit(() => signIn.answer({ answer: choice, choice: true }))}
          >
            {names[choice]}
          </Button>
        ))}
      </Stack>
    </>
  )
}

function EmailSetUp({ signIn, email: known }: { signIn: SignIn; email: string }) {
  const form = useForm(useState({ answer: known }), loginFailed)
  const { answer } = form.values
  const submit = () => {
    if (answer.trim() === '') form.showError(answerRequired, { answer: 'Enter an email address.' })
    else form.submit(() => signIn.answer({ answer: answer.trim() }))
  }
  return (
    <Form message={form.message} onSubmit={submit}>
      <Field
        {...form.field('answer')}
        label="Email"
        hint="We’ll email you a code now and each time you log in."
        type="email"
        inputMode="email"
        autoComplete="email"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <Button type="submit" wide pending={form.pending}>
        Send me a code
      </Button>
      <OtherWays signIn={signIn} state={form} />
    </Form>
  )
}

function Password({ signIn, email }: { signIn: SignIn; email: string }) {
  const [shown, setShown] = useState(false)
  const form = useForm(useState({ answer: '' }), loginFailed)
  const submit = () => {
    if (form.values.answer === '') form.showError('password is required to signIn', { answer: 'Enter your password.' })
    else form.submit(() => signIn.answer({ answer: form.values.answer }))
  }
  return (
    <Form message={form.message} onSubmit={submit}>
      <AccountName email={email} />
      <Field
        {...form.field('answer')}
        label="Password"
        type={shown ? 'text' : 'password'}
        autoComplete="current-password"
        autoCapitalize="none"
        spellCheck={false}
        required
      />
      <Checkbox label="Show Password" checked={shown} onChange={(event) => setShown(event.target.checked)} />
      <Button type="submit" wide pending={form.pending}>
        Log In
      </Button>
      <OtherWays signIn={signIn} state={form} />
    </Form>
  )
}

function Passkey({ signIn, options }: { signIn: SignIn; options: Record<string, unknown> }) {
  const state = useSubmit(loginFailed)
  const { repeat } = signIn
  return (
    <Form
      message={state.message}
      onSubmit={() => state.submit(async () => signIn.answer({ answer: await provePasskey(options), once: true }))}
    >
      <p>Your device will ask for your fingerprint, face or PIN.</p>
      <Button type="submit" wide pending={state.pending}>
        Use my passkey
      </Button>
      {state.message && repeat && <Aside>Your device waits only a short time. If it doesn’t work, start again.</Aside>}
      <OtherWays signIn={signIn} state={state} />
    </Form>
  )
}

interface NewPasswordProps {
  signIn: SignIn
  email: string
  missing: readonly string[]
  onDone: () => void
}

function NewPassword({ signIn, email, missing, onDone }: NewPasswordProps) {
  const form = useForm(useState<Record<string, string>>({ answer: '' }), 'Could not set new password.')
  // Some services name them `userAttributes.given_name`.
  const names = missing.map((name) => name.replace(/^userAttributes\./, ''))
  const submit = () => {
    const valueOf = (name: string) => form.values[`attributes.${name}`]?.trim() ?? ''
    const password = form.values['answer'] ?? ''
    const empty = names.filter((name) => valueOf(name) === '')
    if (!isPasswordGood(password)) {
      form.showError(weakPassword, { answer: 'Choose a password that follows the rules below.' })
      return
    }
    if (empty.length > 0) {
      form.showError(
        'Please check the marked fields.',
        Object.fromEntries(empty.map((name) => [`attributes.${name}`, 'Please fill this in.'])),
      )
      return
    }
    const answer: SignInAnswer = { answer: password, once: true }
    if (names.length > 0) answer.attributes = Object.fromEntries(names.map((name) => [name, valueOf(name)]))
    form.submit(async () => {
      onDone()
      await signIn.answer(answer)
    })
  }
  return (
    <Form message={form.message} onSubmit={submit}>
      <AccountName email={email} />
      <NewPasswordFields {...form.field('answer')} />
      {names.map((name) => {
        const { label, ...input } = attributes[name] ?? { label: name }
        return <Field key={name} {...form.field(`attributes.${name}`)} {...input} label={label} required />
      })}
      <Button type="submit" wide pending={form.pending}>
        Set New Password
      </Button>
    </Form>
  )
}

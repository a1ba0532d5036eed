import type { MfaType, Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { totpSetUp } from '../account/answers.ts'
import { CodeField } from '../account/CodeField.tsx'
import { changeProfile } from '../account/profile.ts'
import { TotpSetUp } from '../account/TotpSetUp.tsx'
import { api } from '../api/api.ts'
import { Form, MessageLine, Row } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Inset, Item, Items, Section } from '../ui/Section.tsx'

const factors: { type: MfaType; name: string; detail: string }[] = [
  { type: 'TOTP', name: 'Authenticator app', detail: 'An app on your phone shows a code.' },
  { type: 'SMS', name: 'Text message', detail: 'We text a code to your verified phone number.' },
  {
    type: 'EMAIL',
    name: 'Email',
    detail:
      'We email a code to your verified address. An app is safer: with email, you also need a browser you’ve used before after a password reset.',
  },
]

/** What a factor requires before it can be turned on. */
function missingFor(type: MfaType, profile: Profile): string | undefined {
  if (type === 'SMS' && !profile.phoneNumberVerified) return 'Verify your phone number first.'
  if (type === 'EMAIL' && !profile.emailVerified) return 'Verify your email first.'
  return undefined
}

export function SecondStep({ profile }: { profile: Profile }) {
  const [settingUp, setSettingUp] = useState<{ secret: string; uri: string } | null>(null)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()
  const { enabled, preferred } = profile.mfa

  const set = (type: MfaType, on: boolean, first: boolean) =>
    state.submit(async () => {
      await changeProfile(queryClient, '/api/profile/mfa', { body: { type, enabled: on, preferred: first } })
    })
  const setUpTotp = () =>
    state.submit(async () => setSettingUp(await api('/api/profile/totp', { method: 'POST', answer: totpSetUp })))
  const turnOn = (type: MfaType) => (type === 'TOTP' ? setUpTotp() : set(type, true, enabled.length === 0))

  return (
    <Section
      title="Second step"
      lead="With a second step, no one can log in with just your password. Turning on the first one logs out every other browser."
    >
      <MessageLine message={state.message} />
      <Items label="Second steps">
        {factors.map(({ type, name, detail }) => {
          const on = enabled.includes(type)
          const missing = missingFor(type, profile)
          return (
            <Item
              key={type}
              name={name}
              badge={on ? (preferred === type ? 'On, used first' : 'On') : undefined}
              detail={(!on && missing) || detail}
            >
              {on && preferred !== type && (
                <Button variant="quiet" disabled={state.pending} onClick={() => set(type, true, true)}>
                  Use first<span className="visually-hidden">{` (${name})`}</span>
                </Button>
              )}
              {on ? (
                <Button variant="quiet" disabled={state.pending} onClick={() => set(type, false, false)}>
                  Turn off<span className="visually-hidden">{` (${name})`}</span>
                </Button>
              ) : (
                !missing && (
                  <Button variant="quiet" disabled={state.pending} onClick={() => turnOn(type)}>
                    <span>{type === 'TOTP' ? 'Set up' : 'Turn on'}</span>
                    <span className="visually-hidden">{` (${name})`}</span>
                  </Button>
                )
              )}
            </Item>
          )
        })}
      </Items>
      {settingUp && (
        <VerifyTotp
          {...settingUp}
          onDone={() => {
            setSettingUp(null)
            state.showSuccess('Your authenticator app is set up.')
          }}
          onCancel={() => setSettingUp(null)}
        />
      )}
    </Section>
  )
}

interface VerifyTotpProps {
  secret: string
  uri: string
  onDone: () => void
  onCancel: () => void
}

function VerifyTotp({ secret, uri, onDone, onCancel }: VerifyTotpProps) {
  const form = useForm(useState({ code: '' }), 'Something went wrong.')
  const { code } = form.values
  const queryClient = useQueryClient()
  const verify = () => {
    if (code.trim() === '') {
      form.showError('Please check the marked fields.', { code: 'Enter the code that the app shows.' })
      return
    }
    form.submit(async () => {
      await changeProfile(queryClient, '/api/profile/totp/verify', { body: { code: code.trim() } })
      onDone()
    })
  }
  return (
    <Inset>
      <TotpSetUp secret={secret} uri={uri} />
      <Form message={form.message} onSubmit={verify}>
        <CodeField
          {...form.field('code')}
          awaited
          label="Code from the app"
          hint="Six digits that change every 30 seconds. Not accepted? Set your phone’s clock to automatic."
        />
        <Row>
          <Button type="submit" pending={form.pending}>
            Turn on
          </Button>
          <Button variant="quiet" disabled={form.pending} onClick={onCancel}>
            Cancel
          </Button>
        </Row>
      </Form>
    </Inset>
  )
}

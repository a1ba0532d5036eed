import type { Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { changeProfile } from '../account/profile.ts'
import { signOut } from '../account/sign-out.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { formatMoment } from '../ui/format-moment.ts'
import { Item, Items, Section } from '../ui/Section.tsx'

export function Devices({ devices }: { devices: Profile['devices'] }) {
  const [asking, setAsking] = useState(false)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const forget = (key: string) =>
    state.submit(async () => {
      await changeProfile(queryClient, `/api/profile/devices/${encodeURIComponent(key)}`, { method: 'DELETE' })
      state.showSuccess('Device forgotten.')
    })
  const trust = (key: string, remembered: boolean) =>
    state.submit(async () => {
      await changeProfile(queryClient, `/api/profile/devices/${encodeURIComponent(key)}`, { body: { remembered } })
      state.showSuccess(
        remembered ? 'This device now skips the second step.' : 'This device now needs the second step.',
      )
    })
  const leaveEverywhere = () =>
    state.submit(() =>
      signOut(queryClient, {
        everywhere: true,
        leave: () => navigate({ to: '/membership/login', replace: true, state: { signedOutEverywhere: true } }),
      }).catch((cause: unknown) => {
        throw new Error('We couldn’t log you out everywhere. Please try again.', { cause })
      }),
    )
  return (
    <Section title="Devices" lead="Browsers you’ve logged in with. The ones you trust skip the second step.">
      <MessageLine message={state.message} />
      {devices.length === 0 ? (
        <p>No devices yet.</p>
      ) : (
        <Items label="Devices">
          {devices.map(({ key, name, lastUsedAt, current, remembered }) => (
            <Item
              key={key}
              name={name}
              badge={current ? 'This device' : undefined}
              detail={`Last used ${formatMoment(lastUsedAt)}${remembered ? ' · trusted: no second step' : ''}`}
            >
              <Button variant="quiet" disabled={state.pending} onClick={() => trust(key, !remembered)}>
                <span>{remembered ? 'Ask for the second step' : 'Trust'}</span>
                <span className="visually-hidden">{` ${name}`}</span>
              </Button>
              <Button variant="quiet" disabled={state.pending} onClick={() => forget(key)}>
                Forget<span className="visually-hidden">{` ${name}`}</span>
              </Button>
            </Item>
          ))}
        </Items>
      )}
      <div>
        <Button variant="secondary" pending={state.pending} onClick={() => setAsking(true)}>
          Log out everywhere
        </Button>
      </div>
      <Dialog open={asking} title="Log out everywhere?" onClose={() => setAsking(false)}>
        <p>
          This logs you out in every browser, including this one. Each will ask for your second step again, even if you
          trusted it.
        </p>
        <Row>
          <Button
            onClick={() => {
              setAsking(false)
              leaveEverywhere()
            }}
          >
            Log out
          </Button>
          <Button variant="secondary" onClick={() => setAsking(false)}>
            Stay logged in
          </Button>
        </Row>
      </Dialog>
    </Section>
  )
}

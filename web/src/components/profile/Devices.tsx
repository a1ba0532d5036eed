import type { Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { changeProfile } from '../../identity/profile.ts'
import { signOut } from '../../identity/sign-out.ts'
import { useSending } from '../../identity/use-sending.ts'
import { Button } from '../../ui/Button.tsx'
import { MessageLine } from '../Form.tsx'
import { formatMoment } from './format-moment.ts'
import { Item, Items, Section } from './Section.tsx'

export function Devices({ devices }: { devices: Profile['devices'] }) {
  const state = useSending('Something went wrong.')
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const forget = (key: string) =>
    state.send(async () => {
      await changeProfile(queryClient, `/api/profile/devices/${encodeURIComponent(key)}`, { method: 'DELETE' })
      state.succeed('The device is forgotten.')
    })
  const leaveEverywhere = () =>
    state.send(() =>
      signOut(queryClient, { everywhere: true, leave: () => navigate({ to: '/membership/login', replace: true }) }),
    )
  return (
    <Section title="Devices" lead="Browsers and devices that your account remembers.">
      <MessageLine message={state.message} />
      {devices.length === 0 ? (
        <p>No devices are remembered.</p>
      ) : (
        <Items label="Devices">
          {devices.map(({ key, name, lastUsedAt, current }) => (
            <Item
              key={key}
              name={name}
              badge={current ? 'This device' : undefined}
              detail={`Last used ${formatMoment(lastUsedAt)}`}
            >
              <Button variant="quiet" disabled={state.sending} onClick={() => forget(key)}>
                Forget<span className="visually-hidden"> {name}</span>
              </Button>
            </Item>
          ))}
        </Items>
      )}
      <div>
        <Button variant="secondary" pending={state.sending} onClick={leaveEverywhere}>
          Sign out everywhere
        </Button>
      </div>
    </Section>
  )
}

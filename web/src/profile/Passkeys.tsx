import type { Profile } from '@robokids/contracts/auth'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { passkeyOptions } from '../account/answers.ts'
import { createPasskey } from '../account/passkey.ts'
import { changeProfile } from '../account/profile.ts'
import { api } from '../api/api.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { formatMoment } from '../ui/format-moment.ts'
import { Item, Items, Section } from '../ui/Section.tsx'

type Passkey = Profile['passkeys'][number]

export function Passkeys({ passkeys }: { passkeys: Profile['passkeys'] }) {
  const [removing, setRemoving] = useState<Passkey | null>(null)
  const state = useSubmit('Something went wrong.')
  const queryClient = useQueryClient()

  const add = () =>
    state.submit(async () => {
      const { options } = await api('/api/profile/passkeys/options', { method: 'POST', answer: passkeyOptions })
      const credential = await createPasskey(options)
      await changeProfile(queryClient, '/api/profile/passkeys', { body: { credential } })
      state.showSuccess('Your passkey is ready. Next time you can log in with it.')
    })
  const remove = (id: string) => {
    setRemoving(null)
    state.submit(async () => {
      await changeProfile(queryClient, `/api/profile/passkeys/${encodeURIComponent(id)}`, { method: 'DELETE' })
      state.showSuccess('Passkey removed.')
    })
  }

  return (
    <Section title="Passkeys" lead="Log in with your fingerprint, your face or your device's PIN, without a password.">
      <MessageLine message={state.message} />
      {passkeys.length > 0 && (
        <Items label="Passkeys">
          {passkeys.map((passkey) => (
            <Item key={passkey.id} name={passkey.name} detail={`Added ${formatMoment(passkey.createdAt)}`}>
              <Button variant="quiet" disabled={state.pending} onClick={() => setRemoving(passkey)}>
                Remove<span className="visually-hidden">{` ${passkey.name}`}</span>
              </Button>
            </Item>
          ))}
        </Items>
      )}
      <div>
        <Button variant="secondary" pending={state.pending} onClick={add}>
          Add a passkey
        </Button>
      </div>
      <Dialog open={removing !== null} title="Remove this passkey?" onClose={() => setRemoving(null)}>
        <p>{`You can no longer log in with ${removing?.name}. Your device may still offer it until you delete it there.`}</p>
        <Row>
          <Button onClick={() => removing && remove(removing.id)}>Remove passkey</Button>
          <Button variant="secondary" onClick={() => setRemoving(null)}>
            Keep it
          </Button>
        </Row>
      </Dialog>
    </Section>
  )
}

import { contactTopics } from '@robokids/contracts/contact-topics'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState } from 'react'
import { profileQuery } from '../account/profile.ts'
import { useUser } from '../account/use-user.ts'
import { ApiError } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { forgetMessage } from '../browser/stored-data.ts'
import { useClientState } from '../browser/use-client-state.ts'
import { Form, Problems } from '../forms/Form.tsx'
import { importOrReload } from '../forms/import-or-reload.ts'
import { useForm } from '../forms/use-form.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { Field } from '../ui/Field.tsx'
import { Notice } from '../ui/Notice.tsx'
import { Select } from '../ui/Select.tsx'
import { TextArea } from '../ui/TextArea.tsx'
import { messageTaken } from './answers.ts'
import styles from './ContactForm.module.css'
import {
  idOfMessage,
  type MessageDraft,
  type MessageField,
  messageFields,
  readMessageDraft,
  saveMessageDraft,
} from './draft.ts'
import { supportEmail } from './support-email.ts'

/** The validation is as large as the form and loaded when the user starts typing. */
const loadChecks = () => import('./read-message.ts')

const notSent = `We couldn’t send your message. It’s still here: please try again in a moment, or email ${supportEmail}.`

/** A hanging request times out; the next attempt has the same id. */
const answerWithinMs = 45_000

/** The outcome is unknown, or the error is temporary: the message may be sent again. */
const isPassing = (error: unknown) =>
  !(error instanceof ApiError) ||
  isRefusal(
    error,
    'network_failed',
    'answer_unreadable',
    'answer_unexpected',
    'upstream_unavailable',
    'internal',
    'busy',
  )

interface Taken {
  reference: string
  email: string
}

export function ContactForm() {
  const [taken, setTaken] = useState<Taken | null>(null)
  return taken ? <Confirmation taken={taken} onAnother={() => setTaken(null)} /> : <MessageForm onTaken={setTaken} />
}

function Confirmation({ taken, onAnother }: { taken: Taken; onAnother: () => void }) {
  const box = useRef<HTMLDivElement>(null)
  // The focused button was removed with the form.
  useEffect(() => box.current?.focus(), [])
  return (
    <div ref={box} tabIndex={-1} className={styles.sheet}>
      <Notice kind="success" title="Thank you. We got your message." live>
        <p>
          We’ll reply to <strong translate="no">{taken.email}</strong> within 48 hours, Monday to Friday.
        </p>
        <p>
          Your message number is <strong translate="no">{taken.reference}</strong>, in case you write to us again.
        </p>
      </Notice>
      <Button variant="secondary" onClick={onAnother}>
        Write another message
      </Button>
    </div>
  )
}

function MessageForm({ onTaken }: { onTaken: (taken: Taken) => void }) {
  const user = useUser()
  const { data: profile } = useQuery({ ...profileQuery(user?.userId ?? ''), enabled: user !== null })
  const [draft, setDraft] = useClientState<MessageDraft>({}, readMessageDraft)

  const known: MessageDraft = user
    ? { email: user.email, name: [profile?.givenName, profile?.familyName].filter(Boolean).join(' ') }
    : {}
  const values = Object.fromEntries(
    messageFields.map((field) => [field, draft[field] ?? known[field] ?? '']),
  ) as Record<MessageField, string>

  const keep = (changed: typeof values) => {
    // What the account says is not a draft.
    const typed = messageFields.filter((name) => name in draft || changed[name] !== values[name])
    const next = Object.fromEntries(typed.map((name) => [name, changed[name]]))
    setDraft(next)
    saveMessageDraft(next)
    loadChecks().catch(() => undefined)
    prepareProof('contact')
  }
  const form = useForm([values, keep], notSent)
  const { field } = form

  const send = async () => {
    const { readMessage } = await importOrReload(loadChecks)
    const read = readMessage(values)
    if ('errors' in read) return form.showError('Please check the marked fields.', read.errors)
    const { content } = read
    const { reference } = await provenApi('contact', '/api/contact', {
      method: 'POST',
      body: { id: idOfMessage(content), ...content },
      answer: messageTaken,
      // Older browsers have no `timeout` and wait until the connection fails.
      signal: AbortSignal.timeout?.(answerWithinMs),
    })
    forgetMessage()
    onTaken({ reference, email: content.email })
  }

  const submit = () =>
    form.submit(() =>
      send().catch((error: unknown) => {
        throw isPassing(error) ? new Error(notSent, { cause: error }) : error
      }),
    )

  return (
    <div className={styles.sheet}>
      <Form message={form.message} onSubmit={submit} labelledBy="message">
        <Problems errors={form.errors} order={messageFields} />
        <div className={styles.pair}>
          <Field {...field('name')} label="Your name" autoComplete="name" required />
          <Field
            {...field('email')}
            label="Email"
            hint="We’ll reply to this address."
            type="email"
            inputMode="email"
            autoComplete="email"
            autoCapitalize="none"
            spellCheck={false}
            required
          />
        </div>
        <div className={styles.pair}>
          <Select {...field('topic')} label="What is it about?" required>
            <option value="">Choose a topic</option>
            {Object.entries(contactTopics).map(([topic, name]) => (
              <option key={topic} value={topic}>
                {name}
              </option>
            ))}
          </Select>
          <Field
            {...field('reference')}
            label="Order or registration"
            hint="Its number or receipt, if you have one."
            autoComplete="off"
            optional
          />
        </div>
        <TextArea {...field('message')} label="Message" required />
        <div>
          <Button type="submit" pending={form.pending} pendingLabel="Sending...">
            Send message
          </Button>
        </div>
      </Form>
    </div>
  )
}

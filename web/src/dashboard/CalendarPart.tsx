import { useState } from 'react'
import { api } from '../api/api.ts'
import { MessageLine } from '../forms/Form.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { Button } from '../ui/Button.tsx'
import { Section } from '../ui/Section.tsx'
import button from '../ui/Button.module.css'
import { calendarAddress } from './answers.ts'
import styles from './CalendarPart.module.css'

/** The address of the family's calendar, which programs subscribe to. It is made when somebody asks for it. */
export function CalendarPart() {
  const [url, setUrl] = useState<string | null>(null)
  const [isCopied, setIsCopied] = useState(false)
  const { pending, message, submit, showSuccess } = useSubmit('We could not make the link. Please try again.')
  const ask = (path: '/api/dashboard/calendar' | '/api/dashboard/calendar/renew', done?: string) =>
    submit(async () => {
      const answered = await api(path, { method: 'POST', answer: calendarAddress })
      setUrl(answered.url)
      setIsCopied(false)
      if (done !== undefined) showSuccess(done)
    })
  const copy = async (text: string) => {
    // In-app browsers may have no clipboard: the link is there to be read.
    try {
      await navigator.clipboard.writeText(text)
      setIsCopied(true)
    } catch {
      setIsCopied(false)
    }
  }
  return (
    <Section title="Calendar" lead="All your classes in your own calendar, kept up to date.">
      {url === null ? (
        <div>
          <Button variant="secondary" pending={pending} onClick={() => ask('/api/dashboard/calendar')}>
            Subscribe
          </Button>
        </div>
      ) : (
        <>
          <p className={styles.address} translate="no">
            {url}
          </p>
          <div className={styles.buttons}>
            <a
              href={url.replace(/^https?:/, 'webcal:')}
              className={`${button.button} ${button['secondary']}`}
              rel="noreferrer"
            >
              Open in my calendar
            </a>
            <Button variant="secondary" onClick={() => void copy(url)}>
              {isCopied ? 'Copied' : 'Copy the link'}
            </Button>
            <Button
              variant="quiet"
              pending={pending}
              onClick={() => ask('/api/dashboard/calendar/renew', 'This is the new link. The old one no longer works.')}
            >
              Make a new link
            </Button>
          </div>
          <p className={styles.note}>
            Whoever has this link sees your classes. If you make a new link, the old link stops working at once.
          </p>
        </>
      )}
      <MessageLine message={message} />
    </Section>
  )
}

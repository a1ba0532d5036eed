import { useEffect, useState } from 'react'
import { Notice } from '../ui/Notice.tsx'
import styles from './LongWait.module.css'

/** By then nearly every payment has been confirmed. */
const longAfterMs = 60_000

/** Advice for when a payment's result does not arrive, beside the page's waiting message. */
export function LongWait({ reference }: { reference: string }) {
  const [isLong, setLong] = useState(false)
  const [supportEmail, setSupportEmail] = useState('')
  useEffect(() => {
    const timer = setTimeout(() => {
      setLong(true)
      // Imported late: few users wait this long.
      import('../contact/support-email.ts').then((facts) => setSupportEmail(facts.supportEmail)).catch(() => undefined)
    }, longAfterMs)
    return () => clearTimeout(timer)
  }, [])
  if (!isLong) return null
  const subject = encodeURIComponent(`My payment ${reference}`)
  return (
    <Notice title="This is taking longer than usual." live>
      <p>
        Please don’t pay again. If nothing changes here in ten minutes, write to us with the reference below. We’ll find
        your payment and reply.
      </p>
      <p className={styles.ways}>
        {supportEmail !== '' && <a href={`mailto:${supportEmail}?subject=${subject}`}>{supportEmail}</a>}
        <code>{reference}</code>
      </p>
    </Notice>
  )
}

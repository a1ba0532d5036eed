import { type FormEvent, useState } from 'react'
import { done } from '../api/answer.ts'
import { MessageLine, Row } from '../forms/Form.tsx'
import { useForm } from '../forms/use-form.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { Dialog } from '../ui/Dialog.tsx'
import { Field } from '../ui/Field.tsx'
import styles from './NoticeDialog.module.css'

interface NoticeDialogProps {
  product: { sku: string; name: string }
  open: boolean
  onClose: () => void
}

/** Asks for the email for a stock alert. */
export function NoticeDialog({ product, open, onClose }: NoticeDialogProps) {
  const [values, setValues] = useState({ email: '' })
  const change = (changed: typeof values) => {
    setValues(changed)
    prepareProof('notice')
  }
  const [asked, setAsked] = useState('')
  const form = useForm([values, change], 'We couldn’t save that. Please try again.')

  const submit = (event: FormEvent) => {
    event.preventDefault()
    form.submit(async () => {
      await provenApi('notice', '/api/shop/notices', {
        method: 'POST',
        body: { sku: product.sku, email: values.email },
        answer: done,
      })
      setAsked(values.email.trim())
    })
  }
  const close = () => {
    setAsked('')
    onClose()
  }
  return (
    <Dialog open={open} title={`Alert for the ${product.name}`} onClose={close}>
      {asked ? (
        <div className={styles.form}>
          <output>
            Please check your inbox: we sent an email to <strong translate="no">{asked}</strong>. Confirm it, and we’ll
            email you once, when it’s available.
          </output>
          <Button onClick={close}>Close</Button>
        </div>
      ) : (
        <form className={styles.form} onSubmit={submit} noValidate>
          <p>One email when it’s available, nothing else. You can remove your address at any time.</p>
          <MessageLine message={form.message} />
          <div>
            <Field
              {...form.field('email')}
              label="Email"
              type="email"
              inputMode="email"
              autoComplete="email"
              autoCapitalize="none"
              spellCheck={false}
              required
            />
          </div>
          <Row>
            <Button type="submit" pending={form.pending}>
              Notify me
            </Button>
            <Button variant="secondary" onClick={close}>
              Not now
            </Button>
          </Row>
        </form>
      )}
    </Dialog>
  )
}

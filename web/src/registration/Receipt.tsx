import type { RegistrationView } from '@robokids/contracts/bff'
import { type DisplayStatus, toDisplayStatus } from '@robokids/contracts/display-status'
import { isolate } from '@robokids/contracts/isolate'
import { type StoredReceipt, receiptDetails, receiptNote, receiptTitle, startName } from '@robokids/contracts/receipt'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useRef, useState } from 'react'
import { Actions, StatusLoading, StatusPage } from '../checkout/StatusPage.tsx'
import { Button } from '../ui/Button.tsx'
import { Card } from '../ui/Card.tsx'
import { Details } from '../ui/Details.tsx'
import { FileButton } from '../ui/FileButton.tsx'
import { Notice } from '../ui/Notice.tsx'
import { forgetDraft } from './draft.ts'
import { forgetReceipt, readReceipt, type ReceiptRecord, receiptOf } from './kept-receipt.ts'
import styles from './Receipt.module.css'
import { forgetRecords, readSessionRecord } from './record.ts'
import { rowOf, startRow } from './registration-rows.tsx'
import { useRegistration } from './use-registration.ts'

/** How long after the print dialog the saved data is cleared and the page leads home. */
const closeAfterMs = 1_000

function savedReceipt(): ReceiptRecord | undefined {
  const receipt = readReceipt()
  if (receipt) return receipt
  const stored = readSessionRecord()
  return stored.state === 'found' ? receiptOf(stored.record) : undefined
}

export function Receipt() {
  const search = useSearch({ from: '/robokids/receipt' })
  const [saved] = useState(savedReceipt)
  const reference = search.reference || saved?.registrationId || null
  const own = saved?.registrationId === reference || !reference ? saved : undefined
  const watched = useRegistration(reference)
  const view = watched.state === 'known' ? watched.view : undefined

  if (view || own?.guardianName) return <Paper kept={own && keptOf(own)} view={view} />
  if (reference && (watched.state === 'loading' || watched.state === 'unreachable')) return <StatusLoading step="kit" />
  return <BackToForm />
}

function keptOf({ childName, childAge, siblings, address1, address2, zip, ...rest }: ReceiptRecord): StoredReceipt {
  const children = [{ childName, childAge }, ...siblings]
  return { ...rest, children, addressLine1: address1, addressLine2: address2, zipCode: zip }
}

/** Without saved data there is no receipt: leads to the form. */
function BackToForm() {
  const navigate = useNavigate()
  useEffect(() => {
    void navigate({ to: '/robokids', replace: true })
  }, [navigate])
  return null
}

/** The current step: none after the payment if it was refunded. */
function stepOf(displayStatus: DisplayStatus | undefined, signed: boolean) {
  if (!displayStatus) return 'kit'
  if (displayStatus.kind !== 'registered' || displayStatus.disputed) return 'pay'
  return signed ? 'kit' : 'waiver'
}

interface PaperProps {
  kept: StoredReceipt | undefined
  view: RegistrationView | undefined
}

/** At least one is defined. */
function Paper({ kept, view }: PaperProps) {
  const navigate = useNavigate()
  const closing = useRef(false)
  const [unprintable, setUnprintable] = useState(false)
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>
    const close = () => {
      forgetReceipt()
      forgetRecords()
      forgetDraft()
      void navigate({ to: '/' })
    }
    // Not right away: phones render the page while the print dialog is open, and `print()` returns at once.
    const afterPrint = () => {
      clearTimeout(timer)
      if (closing.current) timer = setTimeout(close, closeAfterMs)
    }
    window.addEventListener('afterprint', afterPrint)
    return () => {
      window.removeEventListener('afterprint', afterPrint)
      clearTimeout(timer)
    }
  }, [navigate])

  const downloadAndClose = () => {
    // In-app browsers cannot print: then the data is kept.
    if (!('print' in window)) {
      setUnprintable(true)
      return
    }
    closing.current = true
    window.print()
  }

  const displayStatus = view && toDisplayStatus(view)
  const note = view && receiptNote(view)
  // There is no receipt for an unpaid registration.
  const file = view?.checkout?.paidAt ? (`/api/registrations/${view.registrationId}/receipt.pdf` as const) : undefined
  return (
    <StatusPage step={stepOf(displayStatus, view?.waiverSignedAt !== null)} title="Receipt">
      <Card className={styles.paper ?? ''}>
        <p className={styles.from}>{receiptTitle}</p>
        <Details
          rows={receiptDetails(view, kept, isolate).map((detail) =>
            detail[0] === startName && view ? startRow(view.startDate, view.startTime) : rowOf(detail),
          )}
        />
      </Card>
      {note && (
        <Notice title={note.title} live={displayStatus?.kind === 'registered'}>
          <p>{note.text}</p>
        </Notice>
      )}
      {unprintable && (
        <Notice kind="error" title="This browser cannot print." live>
          <p>
            {file
              ? 'Press “Download PDF” instead. Your receipt stays here.'
              : 'Open this page in the browser of your phone or computer and try again there, or take a picture of the screen. Your receipt stays here until then.'}
          </p>
        </Notice>
      )}
      <Actions>
        {file && (
          <FileButton
            address={file}
            failure="We can’t make the PDF right now. Please try again in a moment. Your receipt stays here."
          >
            Download PDF
          </FileButton>
        )}
        <Button variant={file ? 'secondary' : 'primary'} onClick={downloadAndClose}>
          Download & Close
        </Button>
        <p className={styles.aside}>
          {file
            ? '“Download & Close” opens the print dialog. This page then closes and forgets your data.'
            : 'In the print dialog, choose “Save as PDF” to keep a copy. This page then closes and forgets your data.'}
        </p>
      </Actions>
    </StatusPage>
  )
}

import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'

interface FileButtonProps {
  address: `/api/${string}`
  variant?: 'primary' | 'secondary'
  /** What is said where there is no file to be had just now. */
  failure: string
  children: ReactNode
}

/** Hands over a file of the server: a browser keeps it, one inside another app shows it. */
export function FileButton({ address, variant = 'primary', failure, children }: FileButtonProps) {
  const [asking, setAsking] = useState(false)
  const [failed, setFailed] = useState(false)

  const open = async () => {
    setAsking(true)
    try {
      // Asked first: an address that has none would be shown in the place of this page.
      const answer = await fetch(address, { method: 'HEAD' })
      setFailed(!answer.ok)
      if (answer.ok) window.location.assign(address)
    } catch {
      setFailed(true)
    }
    setAsking(false)
  }

  return (
    <>
      <Button variant={variant} pending={asking} pendingLabel="One moment..." onClick={() => void open()}>
        {children}
      </Button>
      {failed && <p role="alert">{failure}</p>}
    </>
  )
}

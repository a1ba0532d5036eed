import { type ReactNode, useState } from 'react'
import { Button } from './Button.tsx'

interface FileButtonProps {
  address: `/api/${string}`
  variant?: 'primary' | 'secondary' | 'quiet'
  /** The message if the file is unavailable. */
  failure: string
  children: ReactNode
}

/** Downloads a file from the server; in-app browsers show it instead. */
export function FileButton({ address, variant = 'primary', failure, children }: FileButtonProps) {
  const [asking, setAsking] = useState(false)
  const [failed, setFailed] = useState(false)

  const open = async () => {
    setAsking(true)
    try {
      // Checked first: an error response would replace this page.
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

import type { DashboardCard } from '@robokids/contracts/dashboard'
import type { ClassLink } from '@robokids/contracts/meetings'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api/api.ts'
import { isRefusal } from '../api/refusals.ts'
import { AsWritten } from '../ui/AsWritten.tsx'
import { Button, ButtonLink } from '../ui/Button.tsx'
import button from '../ui/Button.module.css'
import { classLink } from './answers.ts'
import styles from './ClassLink.module.css'

/** While there is no link yet; once there is one, staff may still change it. */
const askMs = 10_000
const askAgainMs = 60_000

type LinkOf =
  | `registrations/${string}/link`
  | `registrations/${string}/link?placeId=${string}`
  | `member-seats/${string}/link`

/** Siblings of one registration may sit in different classes. */
export function linkOfCard({ registrationId, places }: DashboardCard): LinkOf {
  const place = places?.find(({ status }) => status === 'seated')
  return place
    ? `registrations/${registrationId}/link?placeId=${place.placeId}`
    : `registrations/${registrationId}/link`
}

export type LinkState = { state: 'closed' | 'asking' | 'missing' } | { state: 'open'; link: ClassLink }

/**
 * The link of a class, which is asked for while the page believes that it is open: the server decides.
 */
export function useClassLink(of: LinkOf, isOpen: boolean): LinkState {
  const { data, error } = useQuery({
    queryKey: ['dashboard', 'link', of],
    queryFn: ({ signal }) => api(`/api/${of}`, { answer: classLink, signal }),
    enabled: isOpen,
    gcTime: 0,
    staleTime: 5_000,
    retry: false,
    refetchInterval: ({ state }) => (state.data ? askAgainMs : askMs),
  })
  if (!isOpen) return { state: 'closed' }
  if (data && !isRefusal(error, 'class_link_not_open', 'class_link_missing')) return { state: 'open', link: data }
  return { state: isRefusal(error, 'class_link_missing') ? 'missing' : 'asking' }
}

interface JoinProps {
  link: LinkState
  variant: 'primary' | 'secondary'
  /** Whose class it is, for those who hear the buttons only. */
  who: string
}

/** The way into the class, while its link is open. */
export function Join({ link, variant, who }: JoinProps) {
  if (link.state === 'missing') {
    return (
      <ButtonLink to="/contact" variant="secondary">
        Write to us
      </ButtonLink>
    )
  }
  if (link.state !== 'open') return null
  return (
    <a href={link.link.joinUrl} target="_blank" rel="noreferrer" className={`${button.button} ${button[variant]}`}>
      <span>Join class</span>
      <span className="visually-hidden">{who === '' ? '' : ` of ${who}`}</span>
    </a>
  )
}

/** The passcode of the video call, where it needs one. */
export function Passcode({ link }: { link: LinkState }) {
  const [copied, setCopied] = useState(false)
  if (link.state !== 'open' || link.link.passcode === null) return null
  const { passcode } = link.link
  const copy = async () => {
    // In-app browsers may have no clipboard: the passcode is there to be read.
    try {
      await navigator.clipboard.writeText(passcode)
      setCopied(true)
    } catch {
      setCopied(false)
    }
  }
  return (
    <p className={styles.passcode}>
      <span>Passcode</span>
      <strong className={styles.code}>
        <AsWritten>{passcode}</AsWritten>
      </strong>
      <Button variant="quiet" onClick={() => void copy()}>
        <span>{copied ? 'Copied' : 'Copy'}</span>
        <span className="visually-hidden"> the passcode</span>
      </Button>
    </p>
  )
}

import type { ReactNode } from 'react'

/** A link to another site, in a new tab without access to ours. */
export function OutsideLink({
  href,
  className,
  children,
}: {
  href: string
  className?: string | undefined
  children: ReactNode
}) {
  return (
    <a href={href} target="_blank" rel="noopener noreferrer" className={className}>
      {children}
      <span className="visually-hidden"> (opens in a new tab)</span>
    </a>
  )
}

import { Link } from '@tanstack/react-router'
import type { ComponentProps, ReactNode } from 'react'
import styles from './Button.module.css'

/** `danger` cannot be undone. */
type Variant = 'primary' | 'secondary' | 'quiet' | 'danger'

const classOf = (variant: Variant, wide: boolean) =>
  `${styles['button']} ${styles[variant]} ${wide ? styles['wide'] : ''}`

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  variant?: Variant
  /** As wide as its place. */
  wide?: boolean
  /** It is at work: it cannot be pressed again and says `pendingLabel` meanwhile. */
  pending?: boolean
  pendingLabel?: string
}

export function Button({
  variant = 'primary',
  wide = false,
  pending = false,
  pendingLabel = 'Processing...',
  type = 'button',
  disabled = false,
  children,
  ...rest
}: ButtonProps) {
  return (
    <button
      {...rest}
      type={type}
      className={classOf(variant, wide)}
      disabled={disabled || pending}
      aria-busy={pending || undefined}
    >
      {/* An element, and another one while it is at work: a translator's page puts elements in the place of words that stand alone. */}
      <span key={Number(pending)}>{pending ? pendingLabel : children}</span>
    </button>
  )
}

interface ButtonLinkProps {
  /** A page of this site. */
  to: string
  variant?: Variant
  wide?: boolean
  search?: Record<string, string>
  /** Done before it leads there. */
  onClick?: () => void
  children: ReactNode
}

/** Looks like a button and leads to another page. */
export function ButtonLink({ to, variant = 'primary', wide = false, search, onClick, children }: ButtonLinkProps) {
  return (
    <Link to={to} {...(search ? { search } : {})} {...(onClick ? { onClick } : {})} className={classOf(variant, wide)}>
      {children}
    </Link>
  )
}

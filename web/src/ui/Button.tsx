import { createLink } from '@tanstack/react-router'
import type { ComponentProps } from 'react'
import styles from './Button.module.css'

/** `danger`: the action cannot be undone. */
type Variant = 'primary' | 'secondary' | 'quiet' | 'danger'

const classOf = (variant: Variant, wide: boolean) => `${styles.button} ${styles[variant]} ${wide ? styles.wide : ''}`

interface ButtonProps extends Omit<ComponentProps<'button'>, 'className'> {
  variant?: Variant
  /** As wide as its container. */
  wide?: boolean
  /** Disabled, with `pendingLabel`, while its action runs. */
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
      {/* An element with a key of its own: page translation replaces bare text nodes, which breaks React's updates. */}
      <span key={Number(pending)}>{pending ? pendingLabel : children}</span>
    </button>
  )
}

interface ButtonAnchorProps extends Omit<ComponentProps<'a'>, 'className'> {
  variant?: Variant
  /** As wide as its container. */
  wide?: boolean
}

/** Looks like a button and leads to another page. */
export const ButtonLink = createLink(({ variant = 'primary', wide = false, children, ...rest }: ButtonAnchorProps) => (
  <a {...rest} className={classOf(variant, wide)}>
    {children}
  </a>
))

import type { DashboardCard } from '@robokids/contracts/dashboard'
import { Link } from '@tanstack/react-router'
import { AsWritten } from '../ui/AsWritten.tsx'
import styles from './Children.module.css'
import type { StatedCard } from './upcoming.ts'

/** Whether a card is of the chosen child, or no child is chosen. */
export function isOf({ children }: DashboardCard, child: string | undefined): boolean {
  return child === undefined || children.some(({ childName }) => childName === child)
}

/** Chooses whose classes are shown, in a family with several children and classes. */
export function Children({ cards, chosen }: { cards: readonly StatedCard[]; chosen: string | undefined }) {
  const names = [...new Set(cards.flatMap(({ card }) => card.children.map(({ childName }) => childName)))]
  if (names.length < 2 || cards.length < 2) return null
  const chip = (child: string | undefined) => ({
    className: styles.chip,
    'aria-current': chosen === child ? ('true' as const) : undefined,
  })
  return (
    <ul className={styles.chips} aria-label="Whose classes">
      <li>
        <Link to="/dashboard" search={{}} replace resetScroll={false} {...chip(undefined)}>
          Everyone
        </Link>
      </li>
      {names.map((name) => (
        <li key={name}>
          <Link to="/dashboard" search={{ child: name }} replace resetScroll={false} {...chip(name)}>
            <AsWritten>{name}</AsWritten>
          </Link>
        </li>
      ))}
    </ul>
  )
}

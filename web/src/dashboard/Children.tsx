import type { DashboardCard } from '@robokids/contracts/dashboard'
import { useNavigate } from '@tanstack/react-router'
import { AsWritten } from '../ui/AsWritten.tsx'
import styles from './Children.module.css'
import type { StatedCard } from './upcoming.ts'

/** Whether a card is of the chosen child, or no child is chosen. */
export function isOf({ children }: DashboardCard, child: string | undefined): boolean {
  return child === undefined || children.some(({ childName }) => childName === child)
}

/** Chooses whose classes are shown, in a family with several children and classes. */
export function Children({ cards, chosen }: { cards: readonly StatedCard[]; chosen: string | undefined }) {
  const navigate = useNavigate()
  const names = [...new Set(cards.flatMap(({ card }) => card.children.map(({ childName }) => childName)))]
  if (names.length < 2 || cards.length < 2) return null
  const chip = (child: string | undefined) => (
    <button
      type="button"
      className={styles.chip}
      aria-pressed={chosen === child}
      onClick={() =>
        void navigate({
          to: '/dashboard',
          search: child === undefined ? {} : { child },
          replace: true,
          resetScroll: false,
        })
      }
    >
      {child === undefined ? 'Everyone' : <AsWritten>{child}</AsWritten>}
    </button>
  )
  return (
    <ul className={styles.chips} aria-label="Whose classes">
      <li>{chip(undefined)}</li>
      {names.map((name) => (
        <li key={name}>{chip(name)}</li>
      ))}
    </ul>
  )
}

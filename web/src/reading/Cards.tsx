import { formatDay } from '@robokids/contracts/class-date'
import { Link } from '@tanstack/react-router'
import { Drawing } from '../ui/Drawing.tsx'
import type { PlaceCard, Card } from './blocks.ts'
import styles from './Cards.module.css'
import { OutsideLink } from './OutsideLink.tsx'

/** Cards for articles, guides and places: the whole card is a link. */
export function Cards({ cards }: { cards: readonly (Card | PlaceCard)[] }) {
  return (
    <ul className={styles.cards}>
      {cards.map((card) => (
        <li key={card.id} className={styles.card}>
          <div className={styles.picture}>
            <Drawing of={card.picture} />
          </div>
          <div className={styles.words}>
            {'category' in card && (
              <p className={styles.meta}>
                {card.category}
                {card.date && (
                  <span>
                    {' · '}
                    {/* Without the weekday, which would take a second line in a narrow card. */}
                    <time dateTime={card.date}>{formatDay(card.date)}</time>
                  </span>
                )}
              </p>
            )}
            <h3>
              {isOutside(card.link) ? (
                <OutsideLink href={card.link} className={styles.cover}>
                  {card.title}
                </OutsideLink>
              ) : (
                <Link to={card.link} className={styles.cover}>
                  {card.title}
                </Link>
              )}
            </h3>
            <p className={styles.snippet}>{card.snippet}</p>
            <p className={styles.go} aria-hidden="true">{`${action(card)} →`}</p>
          </div>
        </li>
      ))}
    </ul>
  )
}

function isOutside(link: PlaceCard['link']): link is `https://${string}` {
  return link.startsWith('https:')
}

function action(card: Card | PlaceCard): string {
  if ('action' in card) return card.action
  return card.category === 'Guide' ? 'Build it' : 'Read it'
}

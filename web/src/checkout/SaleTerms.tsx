import styles from './SaleTerms.module.css'

const links = [
  ['All sales final', '/terms#refunds'],
  ['Terms of Service', '/terms'],
  ['Waiver', '/waiver.pdf'],
] as const

/** The terms of sale beside each button that leads to a payment. In new tabs, so that a filled-in form stays. */
export function SaleTerms() {
  return (
    <ul className={styles.terms} aria-label="Before you pay">
      {links.map(([text, href]) => (
        <li key={href}>
          <a href={href} target="_blank" rel="noopener noreferrer">
            {text}
            <span className="visually-hidden"> (opens in a new tab)</span>
          </a>
        </li>
      ))}
    </ul>
  )
}

import type { PagePath } from '@robokids/contracts/pages'
import styles from './Footer.module.css'

const groups: readonly (readonly [
  name: string,
  links: readonly (readonly [label: string, to: PagePath | '/waiver.pdf'])[],
])[] = [
  [
    'Learn',
    [
      ['Classes', '/robokidslanding'],
      ['Compare levels', '/levels'],
      ['Membership', '/membership'],
      ['Innovator Program', '/innovator'],
      ['News & Guides', '/news-guides'],
      ['Shop', '/shop'],
    ],
  ],
  [
    'Help',
    [
      ['FAQ', '/faq'],
      ['Contact', '/contact'],
      ['About', '/about'],
      ['Follow Us', '/follow'],
      ['Log in', '/membership/login'],
    ],
  ],
  [
    'Legal',
    [
      ['Privacy Policy', '/privacy'],
      ['Terms of Service', '/terms'],
      ['Waiver (PDF)', '/waiver.pdf'],
    ],
  ],
]

/** The end of each document: links to all pages, which also work without scripts. */
export function Footer() {
  return (
    <footer id="footer" tabIndex={-1} className={styles.footer}>
      <div className={styles.inner}>
        <div className={styles.words}>
          <p>© 2025 Robo Kids Learning</p>
          <p className={styles.place}>Located in Silicon Valley, California.</p>
        </div>
        {groups.map(([name, links]) => (
          <nav key={name} aria-label={name}>
            <p className={styles.name}>{name}</p>
            <ul>
              {links.map(([label, to]) => (
                <li key={to}>
                  <a href={to}>{label}</a>
                </li>
              ))}
            </ul>
          </nav>
        ))}
      </div>
    </footer>
  )
}

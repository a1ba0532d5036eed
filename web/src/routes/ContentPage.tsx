import { formatClassDate } from '@robokids/contracts/class-date'
import { Link } from '@tanstack/react-router'
import { Blocks } from '../components/content/Blocks.tsx'
import { RichText } from '../components/content/RichText.tsx'
import type { Content } from '../content/blocks.ts'
import { Drawing } from '../illustrations/Drawing.tsx'
import { ButtonLink } from '../ui/Button.tsx'
import styles from './ContentPage.module.css'

/** A page that is read: an article, a guide, a legal text, a list of them. What it says is data. */
export function ContentPage({ content }: { content: Content }) {
  const { kicker, title, lead, date, picture, accent, parent, opening, sections, contents, numbered, next } = content
  const titleOf = (index: number) => (numbered ? `${index + 1}. ${sections[index]?.title}` : sections[index]?.title)
  return (
    <article data-accent={accent}>
      <header className={styles['hero']}>
        <div className={styles['heroInner']}>
          <div className={styles['words']}>
            <p className={styles['kicker']}>
              {parent && (
                <>
                  <Link to={parent.to}>{parent.text}</Link>
                  <span aria-hidden="true"> / </span>
                </>
              )}
              {kicker}
            </p>
            <h1>{title}</h1>
            <p className={styles['lead']}>
              <RichText text={lead} />
            </p>
            {date && (
              <p className={styles['date']}>
                {date[0]} <time dateTime={date[1]}>{formatClassDate(date[1])}</time>
              </p>
            )}
          </div>
          <div className={styles['picture']}>
            <Drawing of={picture} />
          </div>
        </div>
      </header>
      <div className={`${styles['body']} ${contents ? styles['withContents'] : ''}`}>
        {contents && (
          <nav className={styles['contents']} aria-labelledby="contents-heading">
            <h2 id="contents-heading" className={styles['contentsTitle']}>
              On this page
            </h2>
            <ol className={styles['entries']}>
              {sections.map(({ id }, index) => (
                <li key={id}>
                  <a href={`#${id}`}>{titleOf(index)}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div className={styles['text']}>
          {opening && (
            <div className={styles['section']}>
              <Blocks blocks={opening} />
            </div>
          )}
          {sections.map(({ id, blocks }, index) => (
            <section key={id} className={styles['section']} aria-labelledby={id}>
              <h2 id={id}>{titleOf(index)}</h2>
              <Blocks blocks={blocks} />
            </section>
          ))}
          {next && (
            <div className={styles['next']}>
              {next.map(({ to, text }, index) => (
                <ButtonLink key={to} to={to} variant={index === 0 ? 'primary' : 'secondary'}>
                  {text}
                </ButtonLink>
              ))}
            </div>
          )}
        </div>
      </div>
    </article>
  )
}

import { formatClassDate } from '@robokids/contracts/class-date'
import { Link } from '@tanstack/react-router'
import { ButtonLink } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import type { Block, Content } from './blocks.ts'
import { Blocks, type BlocksProps } from './Blocks.tsx'
import styles from './ContentPage.module.css'
import { PriceContext, RichText } from './RichText.tsx'

/** A content page: an article, a guide, a legal text, or a list of them. Its content is data. */
export function ContentPage({ content, ownBlock }: { content: Content; ownBlock?: BlocksProps['ownBlock'] }) {
  const { kicker, title, lead, date, picture, accent, parent, opening, sections, contents, articles, numbered, next } =
    content
  const titleOf = (index: number) => (numbered ? `${index + 1}. ${sections[index]?.title}` : sections[index]?.title)
  const [Whole, Part] = articles ? (['div', 'article'] as const) : (['article', 'section'] as const)
  const page = (
    <Whole data-accent={accent}>
      <header className={styles.hero}>
        <div className={styles.heroInner}>
          <div className={styles.words}>
            <p className={styles.kicker}>
              {parent && (
                <>
                  <Link to={parent.to}>{parent.text}</Link>
                  <span aria-hidden="true"> / </span>
                </>
              )}
              {kicker}
            </p>
            <h1>{title}</h1>
            <p className={styles.lead}>
              <RichText text={lead} />
            </p>
            {date && (
              <p className={styles.date}>
                {date[0]} <time dateTime={date[1]}>{formatClassDate(date[1])}</time>
              </p>
            )}
          </div>
          <div className={styles.picture}>
            <Drawing of={picture} first />
          </div>
        </div>
      </header>
      <div className={`${styles.body} ${contents ? styles.withContents : styles.sideHeadings}`}>
        {contents && (
          <nav className={styles.contents} aria-labelledby="contents-heading">
            <h2 id="contents-heading" className={styles.contentsTitle}>
              On this page
            </h2>
            <ol className={styles.entries}>
              {sections.map(({ id }, index) => (
                <li key={id}>
                  <a href={`#${id}`}>{titleOf(index)}</a>
                </li>
              ))}
            </ol>
          </nav>
        )}
        <div className={styles.text}>
          {opening && (
            <div className={styles.section}>
              <div className={styles.blocks}>
                <Blocks blocks={opening} />
              </div>
            </div>
          )}
          {sections.map(({ id, date: published, blocks }, index) => (
            <Part
              key={id}
              className={`${styles.section} ${blocks.some(isWide) ? styles.wide : ''}`}
              aria-labelledby={id}
            >
              <div className={styles.heading}>
                <h2 id={id}>{titleOf(index)}</h2>
                {published && (
                  <p className={styles.date}>
                    <time dateTime={published}>{formatClassDate(published)}</time>
                  </p>
                )}
              </div>
              <div className={styles.blocks}>
                <Blocks blocks={blocks} ownBlock={ownBlock} />
              </div>
            </Part>
          ))}
          {next && (
            <div className={styles.next}>
              {next.map(({ to, text }, index) => (
                <ButtonLink key={to} to={to} variant={index === 0 ? 'primary' : 'secondary'}>
                  {text}
                </ButtonLink>
              ))}
            </div>
          )}
        </div>
      </div>
    </Whole>
  )
  return content.showPrice ? <PriceContext value={content.showPrice}>{page}</PriceContext> : page
}

/** Too many cards for the column beside the heading: they take the page's full width. */
const isWide = (block: Block) =>
  typeof block === 'object' && 'kind' in block && block.kind === 'cards' && block.cards.length > 2

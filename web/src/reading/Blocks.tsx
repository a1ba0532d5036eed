import type { ReactNode } from 'react'
import { Drawing } from '../ui/Drawing.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './Blocks.module.css'
import type { Block, OwnBlock } from './blocks.ts'
import { Cards } from './Cards.tsx'
import { RichText } from './RichText.tsx'

export interface BlocksProps {
  blocks: readonly Block[]
  /** How a page's own blocks are shown; other pages have none, and do not load it. */
  ownBlock?: ((block: OwnBlock) => ReactNode) | undefined
}

/** Content as it stands on a page. */
export function Blocks({ blocks, ownBlock }: BlocksProps) {
  return blocks.map((block, index) => <OneBlock key={index} block={block} ownBlock={ownBlock} />)
}

function OneBlock({ block, ownBlock }: Omit<BlocksProps, 'blocks'> & { block: Block }) {
  if (typeof block === 'string' || !('kind' in block)) {
    return (
      <p>
        <RichText text={block} />
      </p>
    )
  }
  switch (block.kind) {
    case 'list':
      return (
        <ul className={styles.list}>
          {block.items.map((item, index) => (
            <li key={index}>
              <RichText text={item} />
            </li>
          ))}
        </ul>
      )
    case 'steps':
      return (
        <ol className={styles.steps}>
          {block.items.map((item, index) => (
            <li key={index}>
              <RichText text={item} />
            </li>
          ))}
        </ol>
      )
    case 'phases':
      return (
        <ol className={styles.phases}>
          {block.items.map(({ title, text, points }) => (
            <li key={title} className={styles.phase}>
              <h3>{title}</h3>
              <p>
                <RichText text={text} />
              </p>
              <ul className={styles.list}>
                {points.map((point, index) => (
                  <li key={index}>
                    <RichText text={point} />
                  </li>
                ))}
              </ul>
            </li>
          ))}
        </ol>
      )
    case 'note':
      return (
        <div className={styles.note}>
          <Notice title={block.title}>
            <p>
              <RichText text={block.text} />
            </p>
          </Notice>
        </div>
      )
    case 'facts':
      return (
        <dl className={styles.facts}>
          {block.items.map(([name, value]) => (
            <div key={name}>
              <dt>{name}</dt>
              <dd>
                <RichText text={value} />
              </dd>
            </div>
          ))}
        </dl>
      )
    case 'questions':
      return block.items.map(({ id, question, answer }) => (
        <div key={id} className={styles.question}>
          <h3 id={id}>
            <a href={`#${id}`}>{question}</a>
          </h3>
          {answer.map((text, index) => (
            <p key={index}>
              <RichText text={text} />
            </p>
          ))}
        </div>
      ))
    case 'table':
      return <Table {...block} />
    case 'picture':
      return (
        <figure className={styles.picture}>
          <Drawing of={block.of} />
          <figcaption>
            <RichText text={block.caption} />
          </figcaption>
        </figure>
      )
    case 'cards':
      return <Cards cards={block.cards} />
    case 'sketch':
    case 'wiring':
    case 'troubles':
    case 'message-form':
      return ownBlock?.(block)
    default:
      return block satisfies never
  }
}

/** Its first column names the row; on a phone each row is a small list of its own, with the names as text, so that they are translated. */
function Table({ caption, head, rows }: Extract<Block, { kind: 'table' }>) {
  return (
    <table className={styles.table}>
      <caption>{caption}</caption>
      <thead>
        <tr>
          {head.map((name) => (
            <th key={name} scope="col">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, index) => (
          <tr key={index}>
            {row.map((cell, column) => (
              <td key={head[column]}>
                <span>{head[column]}</span>
                <span>
                  <RichText text={cell} />
                </span>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  )
}

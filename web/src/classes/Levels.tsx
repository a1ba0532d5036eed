import type { LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { formatMoney } from '@robokids/contracts/pricing'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { type ReactNode, useState } from 'react'
import { useHydrated } from '../browser/use-hydrated.ts'
import { ButtonLink } from '../ui/Button.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { classesQuery } from './classes-query.ts'
import { experiences, levelFacts } from './level-facts.ts'
import { levels } from './level-looks.ts'
import { LevelRobot } from './LevelRobot.tsx'
import styles from './Levels.module.css'
import { signUpContent } from './sign-up-texts.ts'
import { type Experience, suggestLevel } from './suggest-level.ts'

const order = Object.keys(levels) as LevelClassType[]

/** The minimum age of the form, and one more than the highest recommended age. */
const ages = Array.from({ length: 13 }, (_, at) => at + 5)

/** Suggests a level, and compares all four. */
export function Levels() {
  const classes = useQuery(classesQuery)
  const all = order.map((classType) => {
    const live = classes.data?.levels.find((level) => level.classType === classType)
    return { classType, ...openingLevels[classType], ...live, ...levelFacts[classType] }
  })
  return (
    <>
      <div className={styles.hero}>
        <div className={styles.heroInner}>
          <p className={styles.kicker}>
            <Link to="/robokidslanding">Classes</Link>
            <span aria-hidden="true"> / </span>
            <span>Compare levels</span>
          </p>
          <h1>Which level fits your child?</h1>
          <p className={styles.lead}>
            Start where your child is. Ages are recommendations; what your child has built before matters more.
          </p>
        </div>
      </div>
      <section className={styles.section} aria-labelledby="choose-heading">
        <h2 id="choose-heading">Two questions</h2>
        <Chooser of={all} />
      </section>
      <section className={styles.section} aria-labelledby="compare-heading">
        <h2 id="compare-heading">The four levels side by side</h2>
        <table className={styles.table}>
          <caption className="visually-hidden">The four levels compared</caption>
          <thead>
            <tr>
              {['Level', 'Ages', 'Length', 'Price', 'What your child builds', 'In the kit', 'Experience needed'].map(
                (name) => (
                  <th key={name} scope="col">
                    {name}
                  </th>
                ),
              )}
            </tr>
          </thead>
          <tbody>
            {all.map(({ classType, title, recommendedAges, programLength, price, built, before }) => (
              <tr key={classType} data-accent={levels[classType].accent}>
                <th scope="row">
                  <LevelRobot classType={classType} />
                  <Link to={levels[classType].path}>{title}</Link>
                </th>
                <Cell name="Ages">{`${recommendedAges.from} to ${recommendedAges.to}`}</Cell>
                <Cell name="Length">{programLength}</Cell>
                <Cell name="Price">
                  <strong className={styles.price}>
                    {price ? formatMoney(price, true) : classes.isError ? 'See its page' : <Skeleton width="4ch" />}
                  </strong>
                </Cell>
                <Cell name="What your child builds">{built}</Cell>
                <Cell name="In the kit">{signUpContent[classType].boxInShort}</Cell>
                <Cell name="Experience needed">{before}</Cell>
              </tr>
            ))}
          </tbody>
        </table>
        <p className={styles.soft}>
          The price includes the live sessions, the kit and shipping.{' '}
          <Link to="/robokidslanding">See dates and open seats</Link>, or read the <Link to="/faq">FAQ</Link>.
        </p>
      </section>
    </>
  )
}

function Chooser({ of }: { of: Parameters<typeof suggestLevel>[0] }) {
  const hydrated = useHydrated()
  const [age, setAge] = useState('')
  const [experience, setExperience] = useState('')
  const found = age && experience ? suggestLevel(of, Number(age), Number(experience) as Experience) : undefined
  return (
    <div className={styles.chooser}>
      <div className={styles.questions}>
        <noscript>
          <p>This needs JavaScript. You can still compare the levels below.</p>
        </noscript>
        <label className={styles.question}>
          <span className={styles.name}>Your child’s age</span>
          <select
            className={styles.select}
            disabled={!hydrated}
            value={age}
            onChange={(event) => setAge(event.target.value)}
          >
            <option value="">Choose an age</option>
            {ages.map((years) => (
              <option key={years} value={years}>
                {years === ages.at(-1) ? `${years} or older` : years}
              </option>
            ))}
          </select>
        </label>
        <label className={styles.question}>
          <span className={styles.name}>What your child has built before</span>
          <select
            className={styles.select}
            disabled={!hydrated}
            value={experience}
            onChange={(event) => setExperience(event.target.value)}
          >
            <option value="">Choose what fits best</option>
            {experiences.map((name, at) => (
              <option key={name} value={at}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </div>
      <output className={styles.answer} data-accent={found && levels[found.classType].accent}>
        {found ? <Suggestion key={found.classType} {...found} /> : <p>Answer both and we’ll suggest a level.</p>}
      </output>
    </div>
  )
}

/** On narrow screens, where the column heading is hidden, the name is repeated: as text, so that it is translated. */
function Cell({ name, children }: { name: string; children: ReactNode }) {
  return (
    <td>
      <span className={styles.cellName}>{name}</span>
      <span>{children}</span>
    </td>
  )
}

function Suggestion({ classType, outside }: { classType: LevelClassType; outside: boolean }) {
  const { title, recommendedAges } = openingLevels[classType]
  return (
    <>
      <LevelRobot classType={classType} />
      <div className={styles.words}>
        <p className={styles.title}>{title}</p>
        <p>{levels[classType].promise}</p>
        {outside && (
          <p className={styles.soft}>
            {`It’s made for ages ${recommendedAges.from} to ${recommendedAges.to}. Your child can still join: ages are recommendations.`}
          </p>
        )}
        <ButtonLink to={levels[classType].path}>{`View ${title.split(' ').slice(0, 2).join(' ')}`}</ButtonLink>
      </div>
    </>
  )
}

import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { root } from './settings.ts'

/** Words that this project once used in a sense of its own, and what the field says. */
const retired: readonly [word: RegExp, instead: string][] = [
  [/\banew\b/i, 'again'],
  [/\blearnt\b/i, 'recorded, known'],
  [/\bwhoever\b/i, 'a user who, anyone who'],
  [/\bneighbours?\b/i, 'internal'],
  [/\btold of\b/i, 'notified, published'],
  [/\b(let|lets|letting) (it |them )?go\b|\bletGo\b/i, 'release'],
  [/\bturn(s|ed)? away\b|\bturnAway\b/i, 'reject'],
  [/\bpatience\b/i, 'timeout'],
  [/\bat the door\b|\bdoorkeeping\b/i, 'public API, request guards'],
  [/\bas against\b/i, 'as opposed to'],
  [/\bmostOf\w+|\bmost(Passkeys|Looks|Notices|Messages|Attributes|Devices|Listed|Lines)\b/, 'max…'],
  [/\b(note|tell)[A-Z]\w*\b/, 'record…, publish…, notify…'],
  [/\bunderWay\b/, 'inFlight'],
  [/\bstandingOf\b|\bStanding\b/, 'status'],
  [/\b(judge|Judge)[A-Z]\w*\b|\bVerdict\b/, 'check…, classify…, …Outcome'],
  [/\bone (row|mail) a (fact|family)\b/i, 'one … per …'],
]

/** A sentence in a literal is a text for users, whose words the specification decides. */
const userText = /(['"`])(?:[A-Z\d]|\$\{)[^'"`\n]*\.\1/g

/** Texts of pages, between tags. */
const pageTexts = ['a lot of patience on uneven ground', 'patience when the first program does nothing']

/** What no page, mail or error says: idioms that are not American English, and second names for one thing. */
const retiredInTexts: readonly [words: RegExp, instead: string][] = [
  [/\bby itself\b/, 'automatically'],
  [/\b(goes|went|on its way) back\b|\bmoney back\b/, 'is refunded, a refund'],
  [/\bany more\b/, 'anymore, no longer'],
  [/\b[Ww]e mail(ed)?\b/, 'we email'],
  [/\bfree seats?\b/, 'open seats'],
  [/\b[Pp]arcel\b/, 'package'],
  [/\basks again\b|\bturns by\b/, 'keeps checking, updates'],
  [/\bcan be had\b/, 'is available'],
  [/\bknow no\b/, 'can’t find'],
  [/\b(is|are|was) (signed|paid|registered) already\b/, 'is already …'],
  [/\b(takes|take) the place of\b/, 'replaces'],
]

/** Texts whose words are kept as they are: this one is stored with each consent. */
const keptTexts = ['My membership renews by itself.']

const comment = /\/\*[\s\S]*?\*\/|(^|\s)\/\/.*$/gm

/** The waiver's words are those of the specification; what a class says of itself on a parent's home, and of its cancellation, is given. */
const specifiedTexts = new Set([
  'services/enrollment/src/waivers/waiver-words.ts',
  'web/src/dashboard/card-state.ts',
  'web/src/dashboard/CancelPage.tsx',
  'web/src/dashboard/ChoicePage.tsx',
  'web/src/dashboard/MoveResult.tsx',
  'services/notifications/src/mails/class-cancelled.ts',
])

/** What is written so by now. A folder that is brought up to it joins the list; none leaves it. */
const folders = [
  'contracts/src',
  'runtime',
  'services/notifications',
  'services/identity',
  'services/enrollment',
  'bff',
  'services/billing',
  'deploy/stripe-simulator',
  'web',
  'test',
  'deploy/local',
  'docs',
  'README.md',
  'CONTRIBUTING.md',
]

describe('the language of the code', () => {
  it.each(folders)('keeps retired words out of %s', async (folder) => {
    const { stdout } = await promisify(execFile)('git', ['ls-files', '--', folder], { cwd: root })
    const files = stdout.split('\n').filter((file) => /\.(ts|mjs|md)$/.test(file) && !file.endsWith('language.test.ts'))
    const found: string[] = []
    for (const file of files) {
      const lines = (await readFile(join(root, file), 'utf8')).replaceAll(userText, '').split('\n')
      for (const [index, line] of lines.entries())
        for (const [word, instead] of retired)
          if (word.test(line) && !pageTexts.some((text) => line.includes(text)))
            found.push(`${file}:${index + 1}: ${word.exec(line)?.[0]} (${instead})`)
    }
    expect(found).toEqual([])
  })

  it.each(['web/src', 'services', 'bff/src', 'contracts/src'])(
    'keeps retired idioms out of the texts of %s',
    async (folder) => {
      const { stdout } = await promisify(execFile)('git', ['ls-files', '--', folder], { cwd: root })
      const files = stdout
        .split('\n')
        .filter((file) => /\/src\/.*\.tsx?$/.test(file) && !/\.test\.tsx?$/.test(file) && !specifiedTexts.has(file))
      const found: string[] = []
      for (const file of files) {
        const code = (await readFile(join(root, file), 'utf8')).replaceAll(comment, (text) =>
          text.replaceAll(/[^\n]/g, ''),
        )
        for (const [index, line] of code.split('\n').entries())
          for (const [words, instead] of retiredInTexts)
            if (words.test(line) && !keptTexts.some((text) => line.includes(text)))
              found.push(`${file}:${index + 1}: ${words.exec(line)?.[0]} (${instead})`)
      }
      expect(found).toEqual([])
    },
  )
})

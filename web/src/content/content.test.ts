import { readdir, readFile } from 'node:fs/promises'
import { levelClassTypes, type LevelClassType } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import { pagePaths, redirects } from '@robokids/contracts/pages'
import { describe, expect, it } from 'vitest'
import { testimonials } from '../classes/landing-texts.ts'
import { signUpContent } from '../classes/sign-up-texts.ts'
import { contact } from '../contact/contact-content.ts'
import { guideCards } from '../guides/guide-cards.ts'
import { lightSwitch, withPullUp, withResistor } from '../guides/light-switch.ts'
import { motorGuide, motorWiring } from '../guides/motor.ts'
import { servoGuide, servoWiring } from '../guides/servo.ts'
import { cornersOf, holePoint, type Point, terminalPoint, wirePath } from '../guides/wiring-geometry.ts'
import { tagline } from '../home/home-texts.ts'
import { blog } from '../news/blog.ts'
import { bugbots } from '../news/bugbots.ts'
import { fallLaunch } from '../news/fall-launch.ts'
import { newsCards } from '../news/news-cards.ts'
import { newsAndGuides, newsPage } from '../news/news-pages.ts'
import { securityBasics } from '../news/security-basics.ts'
import { welcome } from '../news/welcome.ts'
import type { Block, Content } from '../reading/blocks.ts'
import { type Inline, plain, type Text } from '../reading/text.ts'
import { type Hole, metalOf, partsOf, type Terminal, type Wiring, wiresOf } from '../reading/wiring.ts'
import { about, director, founder } from './about.ts'
import { faq } from './faq.ts'
import { follow, socialNetwork, videoChannel } from './follow.ts'
import { innovator } from './innovator.ts'
import { privacy } from './privacy.ts'
import { terms } from './terms.ts'

const all: Record<string, Content> = {
  about,
  founder,
  director,
  contact,
  faq,
  privacy,
  terms,
  newsAndGuides,
  newsPage,
  blog,
  welcome,
  securityBasics,
  fallLaunch,
  bugbots,
  lightSwitch,
  motorGuide,
  servoGuide,
  innovator,
  follow,
}

const blocksOf = ({ opening = [], sections }: Content) => [...opening, ...sections.flatMap(({ blocks }) => blocks)]

function textsOf(block: Block): Text[] {
  if (typeof block === 'string' || !('kind' in block)) return [block]
  switch (block.kind) {
    case 'list':
    case 'steps':
      return [...block.items]
    case 'phases':
      return block.items.flatMap(({ title, text, points }) => [title, text, ...points])
    case 'note':
      return [block.title ?? '', block.text]
    case 'facts':
      return block.items.flatMap(([name, value]) => [name, value])
    case 'questions':
      return block.items.flatMap(({ question, answer }) => [question, ...answer])
    case 'table':
      return [block.caption, ...block.head, ...block.rows.flat()]
    case 'picture':
      return [block.caption]
    case 'cards':
      return block.cards.flatMap(({ title, snippet }) => [title, snippet])
    case 'wiring':
      return block.wiring.steps.map(({ text }) => text)
    case 'troubles':
      return block.items.flatMap(({ symptom, help }) => [symptom, help])
    case 'sketch':
    case 'message-form':
      return []
    default:
      return block satisfies never
  }
}

const textsIn = (content: Content) => [content.lead, ...blocksOf(content).flatMap(textsOf)]
const wordsOf = (content: Content) =>
  [content.title, ...content.sections.map(({ title }) => title), ...textsIn(content).map(plain)].join('\n')
const sectionOf = ({ sections }: Content, id: string) => {
  const section = sections.find((one) => one.id === id)
  return (section?.blocks ?? []).flatMap(textsOf).map(plain).join('\n')
}
const piecesOf = (content: Content) =>
  textsIn(content).flatMap((text): readonly Inline[] => (typeof text === 'string' ? [] : text))

describe.each(Object.entries(all))('the content of %s', (_name, content) => {
  it('links only to pages that exist, and within itself to sections that it has', () => {
    const known = [
      '/waiver.pdf',
      ...pagePaths,
      ...Object.keys(redirects),
      ...content.sections.map(({ id }) => `#${id}`),
    ]
    const cards = blocksOf(content).flatMap((block) =>
      typeof block === 'object' && 'kind' in block && block.kind === 'cards' ? block.cards : [],
    )
    const targets = [
      ...piecesOf(content).flatMap((piece) => (typeof piece === 'object' && 'to' in piece ? [piece.to] : [])),
      ...(content.next ?? []).map(({ to }) => to),
      ...cards.map(({ link }) => link).filter((link) => link.startsWith('/')),
    ]
    for (const target of targets) expect(known).toContain(target)
  })

  it('has an anchor of its own for each section, and something to say in it', () => {
    const ids = content.sections.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, title, blocks } of content.sections) {
      expect(id).toMatch(/^[a-z][a-z-]*$/)
      expect(title).toMatch(/\w/)
      expect(blocks.length).toBeGreaterThan(0)
    }
  })

  it('is calm and finished', () => {
    expect(wordsOf(content)).not.toMatch(/[!]|\[|TODO|lorem|undefined/i)
  })
})

describe('the FAQ', () => {
  const entries = blocksOf(faq).flatMap((block) =>
    typeof block === 'object' && 'kind' in block && block.kind === 'questions' ? block.items : [],
  )

  it('gives each question an address of its own, and an answer', () => {
    const ids = [...faq.sections.map(({ id }) => id), ...entries.map(({ id }) => id)]
    expect(new Set(ids).size).toBe(ids.length)
    for (const { id, question, answer } of entries) {
      expect(id).toMatch(/^[a-z][a-z-]*$/)
      expect(question).toMatch(/\?/)
      expect(answer.map(plain).join('').length).toBeGreaterThan(30)
    }
  })

  it('answers what parents ask about money, the waiver, the kit, the class, memberships and data', () => {
    const words = wordsOf(faq)
    for (const said of [
      'All sales are final',
      'you don’t have to ask',
      'we can’t ship the kit',
      'We email you the class link',
      'Pacific Time',
      'brings one sibling free',
      'you won’t be charged again',
      'within 30 days',
    ]) {
      expect(words).toContain(said)
    }
  })
})

describe('the privacy policy', () => {
  it('has 14 numbered sections with a table of contents, and its date', () => {
    expect(privacy.sections).toHaveLength(14)
    expect(privacy).toMatchObject({ numbered: true, contents: true, date: ['Effective', '2025-08-23'] })
  })

  it('tells how long each kind of data is kept, and that requests are answered within 30 days', () => {
    const kept = privacy.sections.find(({ id }) => id === 'retention')?.blocks[0]
    expect(kept).toEqual({
      kind: 'facts',
      items: [
        ['Accounts', '7 years after closure'],
        ['Transactions', '7 years'],
        ['Educational content', 'Program duration plus 2 years'],
        ['Marketing data', 'Up to 5 years'],
        ['Technical logs', '12 months'],
        ['Support', '3 years'],
      ],
    })
    expect(sectionOf(privacy, 'rights')).toContain('within 30 days')
  })

  it('speaks of everything that it has to speak of', () => {
    expect(sectionOf(privacy, 'storage')).toMatch(/cloud provider in the United States/)
    for (const whom of ['Payment', 'Shipping', 'Analytics', 'Email'])
      expect(sectionOf(privacy, 'sharing')).toContain(whom)
    expect(sectionOf(privacy, 'children')).toMatch(/ages 6 and up/)
    expect(sectionOf(privacy, 'children')).toMatch(
      /do not collect personal information directly from children under 13/,
    )
    const ids = privacy.sections.map(({ id }) => id)
    for (const id of ['collect', 'use', 'cookies', 'california', 'international', 'contact']) expect(ids).toContain(id)
  })

  it('names every cookie and every entry in the browser’s storage, and how long it stays', async () => {
    const cookieSource = await readFile(new URL('../../../bff/src/cookies.ts', import.meta.url), 'utf8')
    const cookies = [...cookieSource.matchAll(/sealedCookie\('([^']+)'/g)].map(([, name = '']) => name)
    expect(cookies.length).toBeGreaterThanOrEqual(6)
    const src = new URL('../', import.meta.url)
    const files = (await readdir(src, { recursive: true })).filter((name) => /(?<!\.test)\.tsx?$/.test(name))
    const sources = await Promise.all(files.map((name) => readFile(new URL(name, src), 'utf8')))
    const entries = sources.flatMap((source) => {
      const keys = /from '(\.|\.\.\/browser)\/storage\.ts'/.test(source)
        ? [...source.matchAll(/const \w*key = '([^']+)'/gi)]
        : []
      return [...keys, ...source.matchAll(/(?:local|session)Storage\.(?!getItem|setItem)(\w+)/g)].map(
        ([, name = '']) => name,
      )
    })
    // Some is the router's own.
    entries.push('tsr-scroll-restoration-v1_3', 'tanstack_router_reload')
    expect(entries).toEqual(expect.arrayContaining(['cart', 'signedIn', 'loadedAnew', 'roboKidsRegistration']))

    const tables = blocksOf(privacy).flatMap((block) =>
      typeof block === 'object' && 'kind' in block && block.kind === 'table' ? [block] : [],
    )
    const [told, stored] = tables.map(({ rows }) => rows.flatMap(([name = '']) => plain(name).split(', ')))
    expect(new Set(told)).toEqual(new Set(cookies))
    expect(new Set(stored)).toEqual(new Set(entries))
    for (const { rows } of tables) for (const row of rows) expect(plain(row[2] ?? '')).toMatch(/\d|until/i)

    const days = (name: string, source: string) => Number(new RegExp(`${name} = (\\d+)`).exec(source)?.[1])
    const [session, device] = await Promise.all(
      ['session', 'auth-routes'].map((name) =>
        readFile(new URL(`../../../bff/src/${name}.ts`, import.meta.url), 'utf8'),
      ),
    )
    expect(sectionOf(privacy, 'cookies')).toContain(`${days('sessionDays', session ?? '')} days at most`)
    expect(sectionOf(privacy, 'cookies')).toContain(`\n${days('deviceMs', device ?? '')} days\n`)
    expect(days('browserDays', session ?? '')).toBe(365)
  })

  it('refers to its own sections by their right numbers', () => {
    expect(privacy.sections[13]?.id).toBe('contact')
    expect(sectionOf(privacy, 'children')).toContain('section 14')
    expect(privacy.sections[2]?.id).toBe('use')
    expect(sectionOf(privacy, 'california')).toContain('section 3')
  })
})

describe('the terms of service', () => {
  it('have 19 numbered sections and their date', () => {
    expect(terms.sections).toHaveLength(19)
    expect(terms).toMatchObject({ numbered: true, date: ['Effective', '2025-08-23'] })
  })

  it('say what they have to say', () => {
    expect(sectionOf(terms, 'eligibility')).toMatch(/18 or older/)
    expect(sectionOf(terms, 'refunds')).toMatch(/All sales are final\. There are no refunds/)
    expect(sectionOf(terms, 'kits')).toMatch(/Kits are shipped before the program starts/)
    expect(sectionOf(terms, 'recording')).toMatch(/Live sessions may be recorded/)
    expect(sectionOf(terms, 'liability')).toMatch(/limited to the amount you paid us in the preceding 12 months/)
    expect(sectionOf(terms, 'arbitration')).toMatch(/binding arbitration/)
    expect(sectionOf(terms, 'law')).toMatch(/State of California/)
  })

  it('name the price of a membership as the price book has it, and no price of their own', () => {
    expect(wordsOf(terms)).not.toContain('$')
    const prices = piecesOf(terms).flatMap((piece) =>
      typeof piece === 'object' && 'priceOf' in piece ? [piece.priceOf] : [],
    )
    expect(prices).toEqual(['membership'])
  })

  it('refer to their own sections by their right numbers', () => {
    const opening = (terms.opening ?? []).flatMap(textsOf).flatMap((text) => (typeof text === 'string' ? [] : text))
    const references = opening.flatMap((piece) => (typeof piece === 'object' && 'to' in piece ? [piece] : []))
    expect(references).toHaveLength(5)
    for (const { to, text } of references) {
      expect(text).toBe(`section ${terms.sections.findIndex(({ id }) => `#${id}` === to) + 1}`)
    }
    expect(sectionOf(terms, 'law')).toContain('section 17')
    expect(terms.sections[16]?.id).toBe('arbitration')
  })
})

describe('contact, about and follow', () => {
  it('tell when we answer and when we call', () => {
    expect(wordsOf(contact)).toMatch(/reply within 48 hours, Monday to Friday/)
    expect(wordsOf(contact)).toContain('9 AM to 4 PM Pacific, Monday to Friday')
    expect(wordsOf(contact)).toMatch(/include your order information/)
  })

  it('tell our mission', () => {
    expect(about.lead).toBe(tagline)
    for (const words of ['small', 'personal', 'electromagnetic robotic muscles', 'kits shipped across the U.S.']) {
      expect(sectionOf(about, 'mission')).toContain(words)
    }
  })

  it('lead from each biography on, and from the founder’s to the guides', () => {
    const targets = (content: Content) => (content.next ?? []).map(({ to }) => to)
    expect(targets(founder)).toEqual(expect.arrayContaining(['/about', '/robokidslanding', '/guides']))
    expect(targets(director)).toEqual(expect.arrayContaining(['/about', '/robokidslanding']))
  })

  it('lead to a video site and a social network', () => {
    expect(new URL(videoChannel).host).toBe('www.youtube.com')
    expect(new URL(socialNetwork).host).toBe('www.instagram.com')
  })
})

describe('the box of a level', () => {
  const inBox = (classType: LevelClassType) => signUpContent[classType].box.join('\n')

  it('holds what the level’s description and its lessons are made of, and its power', () => {
    // What a guide mentions, and the part that it needs.
    const parts: [spoken: RegExp, part: RegExp][] = [
      [/\bmotors?\b/i, /motors/i],
      [/servo/i, /servo/i],
      [/sens(or|e)/i, /sensors/i],
      [/\b(code|program|microcontroller)/i, /controller board/i],
      [/\blight\b/i, /lights/i],
      [/switch/i, /switches/i],
      [/batter/i, /batteries/i],
      [/rover/i, /rover/i],
      [/robot arm/i, /robot arm/i],
      [/walker/i, /walker/i],
    ]
    for (const classType of levelClassTypes) {
      const { learn, boxInShort } = signUpContent[classType]
      const spoken = [openingLevels[classType].description, ...learn, boxInShort].join('\n')
      for (const [word, part] of parts) if (word.test(spoken)) expect(inBox(classType)).toMatch(part)
      // Everything that a child needs beside a computer is in the kit.
      expect(inBox(classType)).toContain('Battery holder and batteries')
    }
    for (const promised of [/sensors/, /two motors/, /batteries/]) {
      expect(signUpContent.basic.boxInShort).toMatch(promised)
    }
  })
})

describe('what families say', () => {
  it('fits the robot that the child of that level builds', () => {
    const quotes = Object.fromEntries(
      testimonials.map(({ name, quote }) => [/Level (\d)/.exec(name)?.[1] ?? '', quote]),
    )
    expect(quotes['1']).toContain('rover')
    // A walker walks.
    expect(quotes['3']).toContain('her robot walked')
    expect(quotes['3']).not.toMatch(/dr[io]ve|wheel|roll/)
  })
})

describe('news and guides', () => {
  it('are four news cards, the newest first, and three guide cards', () => {
    expect(newsCards.map(({ category }) => category)).toEqual(['News', 'News', 'News', 'News'])
    expect(guideCards.map(({ category }) => category)).toEqual(['Guide', 'Guide', 'Guide'])
    const dates = newsCards.map(({ date = '' }) => date)
    expect(dates).toEqual(dates.toSorted((a, b) => b.localeCompare(a)))
  })

  it('tell of fall 2025 with the October dates, and with no price of their own', () => {
    for (const day of [
      'Friday, October 3, 2025',
      'Saturday, October 4, 2025',
      'Sunday, October 5, 2025',
      'Monday, October 6, 2025',
    ]) {
      expect(sectionOf(fallLaunch, 'dates')).toContain(day)
    }
    expect(sectionOf(fallLaunch, 'dates')).toContain('4:00 PM Pacific')
    expect(sectionOf(fallLaunch, 'dates')).toContain('Monday, August 25, 2025')
    expect(sectionOf(fallLaunch, 'siblings')).toMatch(/August 23, 2025 to Friday, October 10, 2025/)
    expect(wordsOf(fallLaunch)).not.toContain('$')
    const prices = piecesOf(fallLaunch).flatMap((piece) =>
      typeof piece === 'object' && 'priceOf' in piece ? [piece.priceOf] : [],
    )
    expect(prices).toEqual(['basic', 'intermediate', 'advanced', 'custom'])
  })

  it('lead from the bug robots to two other sites', () => {
    const outside = piecesOf(bugbots).flatMap((piece) =>
      typeof piece === 'object' && 'href' in piece ? [piece.href] : [],
    )
    expect(outside).toHaveLength(2)
    for (const href of outside) expect(new URL(href).protocol).toBe('https:')
  })

  it('are two articles in the blog, and five phases in the Innovator Program', () => {
    expect(blog.sections).toHaveLength(2)
    const phases = blocksOf(innovator).find(
      (block) => typeof block === 'object' && 'kind' in block && block.kind === 'phases',
    )
    expect(phases).toMatchObject({
      items: [
        { title: 'Ideation and planning' },
        { title: 'Prototyping and testing' },
        { title: 'Product development' },
        { title: 'Business strategy' },
        { title: 'Finance and operations' },
      ],
    })
    expect(innovator.next).toEqual([{ to: '/contact', text: 'Contact Us' }])
  })
})

/** The nets of a circuit: which terminals and pins are connected. */
function circuit(wiring: Wiring) {
  const parents = new Map<string, string>()
  const root = (node: string): string => {
    const parent = parents.get(node)
    return parent === undefined ? node : root(parent)
  }
  const node = (terminal: string) =>
    terminal.startsWith('hole.')
      ? metalOf(terminal.slice('hole.'.length) as Hole)
      : terminal.replace(/^board\.power-GND.*$/, 'board.GND')
  const join = (a: string, b: string) => {
    const [from, to] = [root(node(a)), root(node(b))]
    if (from !== to) parents.set(from, to)
  }
  for (const { from, to } of wiresOf(wiring)) join(from, to)
  return { join, connected: (a: string, b: string) => root(node(a)) === root(node(b)) }
}

/** Closely spaced points on a drawn path. */
function pointsOf(path: string): Point[] {
  const points: Point[] = []
  let at: Point = [0, 0]
  for (const [, command = '', numbers = ''] of path.matchAll(/([MLQC])([^MLQC]*)/g)) {
    const given = numbers.trim().split(/\s+/).map(Number)
    const stops: Point[] = []
    for (let index = 0; index < given.length; index += 2) stops.push([given[index] ?? 0, given[index + 1] ?? 0])
    const start = at
    at = stops.at(-1) ?? at
    if (command === 'M') continue
    for (let step = 0; step <= 200; step++) {
      // De Casteljau: a line, a quadratic or a cubic curve, by the number of its points.
      let curve: Point[] = [start, ...stops]
      while (curve.length > 1) {
        curve = curve.slice(1).map((point, index): Point => {
          const [x, y] = curve[index] ?? point
          return [x + ((point[0] - x) * step) / 200, y + ((point[1] - y) * step) / 200]
        })
      }
      points.push(...curve)
    }
  }
  return points
}

/** The pins of the board that a drawing uses; power and ground aside. */
const signalPins = (wiring: Wiring) =>
  wiresOf(wiring)
    .flatMap(({ from, to }) => [from, to])
    .filter((terminal) => /^board\.\d+$/.test(terminal))
    .map((terminal) => Number(terminal.slice('board.'.length)))
    .toSorted((a, b) => a - b)

const sourceOf = (name: string) => readFile(new URL(`../guides/${name}`, import.meta.url), 'utf8')

async function pinsInSketch(name: string): Promise<Record<string, number>> {
  const source = await sourceOf(name)
  return Object.fromEntries(
    [...source.matchAll(/^const int (\w+)Pin = (\d+);/gm)].map(([, part, pin]) => [part, Number(pin)]),
  )
}

const sketchesIn = (content: Content) =>
  blocksOf(content).flatMap((block) =>
    typeof block === 'object' && 'kind' in block && block.kind === 'sketch' ? [block.sketch] : [],
  )

describe('the guides', () => {
  it.each([
    ['light-switch.ino', withResistor, { button: 2, led: 9 }],
    ['light-switch-pull-up.ino', withPullUp, { button: 2, led: 9 }],
    ['motor.ino', motorWiring, { enable: 9, in1: 8, in2: 7 }],
    ['servo-angles.ino', servoWiring, { servo: 9 }],
    ['servo-sweep.ino', servoWiring, { servo: 9 }],
    ['servo-serial.ino', servoWiring, { servo: 9 }],
  ])('use the same pins in %s, in its drawing and in the steps', async (name, wiring, pins) => {
    expect(await pinsInSketch(name)).toEqual(pins)
    const numbers = Object.values(pins).toSorted((a, b) => a - b)
    expect(signalPins(wiring)).toEqual(numbers)
    const steps = wiring.steps.map(({ text }) => plain(text)).join('\n')
    for (const number of numbers) expect(steps).toContain(`pin ${number}`)
  })

  it.each([
    ['light switch', lightSwitch],
    ['motor', motorGuide],
    ['servo', servoGuide],
  ])('show each sketch of the %s as it is in its file', async (_name, guide) => {
    const sketches = sketchesIn(guide)
    expect(sketches.length).toBeGreaterThan(0)
    for (const { name, lines } of sketches) {
      const source = await sourceOf(name)
      expect(`${lines.map((line) => line.map(([text]) => text).join('')).join('\n')}\n`).toBe(source)
      const kinds = new Set(lines.flatMap((line) => line.map(([, kind]) => kind)))
      for (const kind of ['keyword', 'function', 'number', 'comment']) expect(kinds).toContain(kind)
      for (const [text, kind] of lines.flat()) if (kind === 'number') expect(text).toMatch(/\d/)
    }
  })

  it.each([
    ['light switch', withResistor],
    ['light switch with pull-up', withPullUp],
    ['motor', motorWiring],
    ['servo', servoWiring],
  ])('name both ends of each wire in the step of the %s that lays it', (_name, wiring) => {
    const named: Record<string, string> = { 'power-GND': 'GND', plus: 'plus', minus: 'minus' }
    for (const { text, wire } of wiring.steps) {
      if (!wire) continue
      for (const terminal of [wire.from, wire.to]) {
        expect(terminalPoint(terminal)).toHaveLength(2)
        const [part, end = ''] = terminal.split(/\.(.*)/)
        if (part === 'motor' || part === 'servo') continue
        const words =
          part === 'hole' && /^[+-]/.test(end) ? (end.startsWith('+') ? 'red rail' : 'blue rail') : (named[end] ?? end)
        expect(plain(text)).toContain(words)
      }
    }
  })

  const wirings = [withResistor, withPullUp, motorWiring, servoWiring]
  const supplies = ['board.5V', 'board.3.3V', 'board.VIN', 'driver.5V', 'servo.5V', 'battery.plus', 'driver.12V']
  const grounds = ['board.GND', 'driver.GND', 'servo.GND', 'battery.minus']

  it.each(wirings)('tie no supply to GND and no output to either in $id, whether pressed or not', (wiring) => {
    const { connected, join } = circuit(wiring)
    const button = partsOf(wiring).find((part) => part.kind === 'button')
    // The inputs are the button's; what else is numbered gives orders.
    const outputs = signalPins(wiring)
      .filter((pin) => !(button && pin === 2))
      .map((pin) => `board.${pin}`)
    const drive = [...outputs, 'driver.OUT1', 'driver.OUT2']
    for (const pressed of [false, true]) {
      for (const ground of grounds) {
        for (const supply of supplies) expect(connected(supply, ground), `${supply} at ${ground}`).toBe(false)
      }
      for (const one of drive) {
        for (const other of [...supplies, ...grounds, ...drive.filter((each) => each !== one)]) {
          expect(connected(one, other), `${one} at ${other}`).toBe(false)
        }
      }
      // The battery's plus and the board's 5 V are two supplies.
      expect(connected('battery.plus', 'board.5V')).toBe(false)
      if (!pressed && button) join(`hole.e${button.rows[0]}`, `hole.e${button.rows[1]}`)
    }
  })

  it.each(wirings)('lead no wire of $id over an end of what it is not connected to', (wiring) => {
    const { connected } = circuit(wiring)
    const ends = [
      ...wiresOf(wiring).flatMap(({ from, to }) => [from, to]),
      ...partsOf(wiring).flatMap((part): Terminal[] => {
        if (part.kind === 'resistor') return [`hole.${part.from}`, `hole.${part.to}`]
        return part.kind === 'led' ? [`hole.${part.anode}`, `hole.${part.cathode}`] : []
      }),
    ]
    for (const wire of wiresOf(wiring)) {
      const points = pointsOf(wirePath(terminalPoint(wire.from), terminalPoint(wire.to), cornersOf(wire)))
      for (const end of ends.filter((end) => !connected(end, wire.from))) {
        const [x, y] = terminalPoint(end)
        const nearest = Math.min(...points.map((point) => Math.hypot(point[0] - x, point[1] - y)))
        // Half of the wire and the dot that an end is drawn with.
        expect(nearest, `${wire.from} to ${wire.to} at ${end}`).toBeGreaterThan(3 + 3.2 + 0.75)
      }
    }
  })

  it('have as many jumper wires of each color among the parts as the drawings of the light switch and the motor lay', () => {
    for (const [guide, wiring] of [
      [lightSwitch, withResistor],
      [motorGuide, motorWiring],
    ] as const) {
      const told = /(\d+) jumper wires: ([^\n]*)/.exec(sectionOf(guide, 'parts'))
      const counts = Object.fromEntries(
        [...(told?.[2] ?? '').matchAll(/(\d+) (\w+)/g)].map(([, count, color]) => [color, Number(count)]),
      )
      const laid: Record<string, number> = {}
      // Motor and battery bring wires of their own.
      for (const { from, color } of wiresOf(wiring).filter(({ from }) => !/^(motor|battery)\./.test(from))) {
        expect(from).toMatch(/^(board|hole)\./)
        laid[color] = (laid[color] ?? 0) + 1
      }
      expect(counts).toEqual(laid)
      expect(Number(told?.[1])).toBe(Object.values(laid).reduce((sum, count) => sum + count, 0))
    }
  })

  it('put legs and ends into holes that nothing else is in, and resistors over at least four rows', () => {
    for (const wiring of [withResistor, withPullUp]) {
      const holes: Hole[] = wiresOf(wiring)
        .flatMap(({ from, to }) => [from, to])
        .filter((end) => end.startsWith('hole.'))
        .map((end) => end.slice('hole.'.length) as Hole)
      for (const part of partsOf(wiring)) {
        if (part.kind === 'led') holes.push(part.anode, part.cathode)
        if (part.kind === 'button') for (const row of part.rows) holes.push(`e${row}`, `f${row}`)
        if (part.kind !== 'resistor') continue
        holes.push(part.from, part.to)
        // A quarter-watt resistor is 6.3 mm long without its legs, a row 2.54 mm.
        expect(Math.abs(Number(part.to.slice(1)) - Number(part.from.slice(1)))).toBeGreaterThanOrEqual(4)
      }
      expect(new Set(holes).size).toBe(holes.length)
      for (const hole of holes) expect(holePoint(hole)).toHaveLength(2)
    }
  })

  it('send 5 to 20 mA through an LED of any color', () => {
    const resistor = partsOf(withResistor).find((part) => part.kind === 'resistor' && part.value === '220 Ω')
    if (resistor?.kind !== 'resistor') throw new Error('The resistor is missing')
    // A pin of the board gives 5 V; LEDs take 1.8 V (red) to 3.4 V (blue, white), and 20 mA at most.
    for (const forward of [1.8, 3.4]) {
      const milliamperes = ((5 - forward) / Number.parseInt(resistor.value, 10)) * 1000
      expect(milliamperes).toBeGreaterThan(5)
      expect(milliamperes).toBeLessThan(20)
    }
  })

  it('give the motor no more volts than it is made for, and the driver what its data sheet asks', () => {
    const battery = partsOf(motorWiring).find((part) => part.kind === 'battery')
    if (battery?.kind !== 'battery') throw new Error('The battery is missing')
    const volts = battery.cells * 1.5
    const [, least, most] = /made for (\d) to (\d)\sV/.exec(sectionOf(motorGuide, 'parts')) ?? []
    expect(sectionOf(motorGuide, 'parts')).toContain(
      `holder for ${battery.cells} AA cells, and the cells: ${volts}\u00A0V`,
    )
    // Recommended are 6 to 9 V, 12 V are the limit; the driver keeps 1.5 to 2.5 V at the currents of small motors.
    expect(volts).toBeGreaterThanOrEqual(6)
    expect(volts).toBeLessThanOrEqual(9)
    expect(volts - 2.5).toBeGreaterThanOrEqual(Number(least))
    expect(volts - 1.5).toBeLessThanOrEqual(Number(most))
    const power = sectionOf(motorGuide, 'power').replaceAll('\u00A0', ' ')
    expect(power).toContain(`with ${volts} V give the motor about ${volts - 2} V`)
    // Its chip needs 4.5 V at least, and its own regulator makes no 5 V out of 6.
    const { connected } = circuit(motorWiring)
    expect(connected('driver.5V', 'board.5V')).toBe(true)
    expect(plain(motorWiring.steps[0]?.text ?? '')).toContain('two jumper caps')
  })

  it('light the LED from pin 9 through 220 Ω to GND, the long leg first', () => {
    for (const wiring of [withResistor, withPullUp]) {
      const { connected } = circuit(wiring)
      const led = partsOf(wiring).find((part) => part.kind === 'led')
      const resistor = partsOf(wiring).find((part) => part.kind === 'resistor' && part.value === '220 Ω')
      if (led?.kind !== 'led' || resistor?.kind !== 'resistor') throw new Error('The LED or its resistor is missing')
      expect(metalOf(resistor.from)).toBe(metalOf(led.anode))
      expect(connected(`hole.${resistor.to}`, 'board.9')).toBe(true)
      expect(connected(`hole.${led.cathode}`, 'board.GND')).toBe(true)
      expect(connected(`hole.${led.anode}`, 'board.9')).toBe(false)
      expect(connected(`hole.${led.anode}`, 'board.GND')).toBe(false)
    }
  })

  it('hold pin 2 at GND through 10 kΩ, and put it to 5V when the button is pressed', () => {
    const { connected, join } = circuit(withResistor)
    const resistor = partsOf(withResistor).find((part) => part.kind === 'resistor' && part.value === '10 kΩ')
    const button = partsOf(withResistor).find((part) => part.kind === 'button')
    if (resistor?.kind !== 'resistor' || button?.kind !== 'button')
      throw new Error('The button or its resistor is missing')
    expect(connected(`hole.${resistor.from}`, 'board.2')).toBe(true)
    expect(connected(`hole.${resistor.to}`, 'board.GND')).toBe(true)
    expect(connected('board.2', 'board.5V')).toBe(false)
    join(`hole.e${button.rows[0]}`, `hole.e${button.rows[1]}`)
    expect(connected('board.2', 'board.5V')).toBe(true)
    expect(connected('board.5V', 'board.GND')).toBe(false)
  })

  it('put pin 2 to GND when the button of the pull-up is pressed, and need no 5V', () => {
    const { connected, join } = circuit(withPullUp)
    expect(connected('board.2', 'board.GND')).toBe(false)
    join('hole.e13', 'hole.e15')
    expect(connected('board.2', 'board.GND')).toBe(true)
    expect(wiresOf(withPullUp).flatMap(({ from, to }) => [from, to])).not.toContain('board.5V')
  })

  it('give the motor its own battery, the driver its orders, and all of them one ground', () => {
    const { connected } = circuit(motorWiring)
    for (const [a, b] of [
      ['board.9', 'driver.ENA'],
      ['board.8', 'driver.IN1'],
      ['board.7', 'driver.IN2'],
      ['motor.1', 'driver.OUT1'],
      ['motor.2', 'driver.OUT2'],
      ['battery.plus', 'driver.12V'],
      ['battery.minus', 'board.GND'],
    ] as const) {
      expect(connected(a, b)).toBe(true)
    }
    expect(connected('battery.plus', 'battery.minus')).toBe(false)
    const words = wordsOf(motorGuide)
    for (const value of ['6-9V', 'up to 12V', '0 to 255']) expect(words).toContain(value)
  })

  it('say in the table what the sketch of the motor does', async () => {
    const source = await sourceOf('motor.ino')
    const table = blocksOf(motorGuide).find(
      (block) => typeof block === 'object' && 'kind' in block && block.kind === 'table',
    )
    if (typeof table !== 'object' || !('kind' in table) || table.kind !== 'table') throw new Error('No table')
    for (const way of ['forward', 'backward']) {
      const body = new RegExp(`void ${way}\\(int speed\\) \\{([^}]*)\\}`).exec(source)?.[1]
      const row = table.rows.find(([, , , what]) => what === `turns ${way}`)
      expect(body).toContain(`digitalWrite(in1Pin, ${plain(row?.[1] ?? '')})`)
      expect(body).toContain(`digitalWrite(in2Pin, ${plain(row?.[2] ?? '')})`)
    }
  })

  it('turn the servo within 0 to 180 degrees only', async () => {
    const source = await sourceOf('servo-serial.ino')
    expect(source).toContain('angle < 0 || angle > 180')
    // `toInt` alone takes "12x" for 12.
    expect(source).toContain('String(angle) == line')
    const { connected } = circuit(servoWiring)
    expect(connected('servo.signal', 'board.9')).toBe(true)
    expect(connected('servo.5V', 'board.5V')).toBe(true)
    expect(connected('servo.GND', 'board.GND')).toBe(true)
  })
})

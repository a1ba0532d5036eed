/**
 * Draws the pictures for those who share a page, the site's icons, and what stands in mails, from our own illustrations. They are
 * committed: a build needs no browser for them. `node web/share/draw.ts` draws them, after a change to a drawing or here.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { findChromium } from '@robokids/local/chromium'
import { chromium } from 'playwright-core'
import { drawing } from '../drawings.ts'
import type { ShareImage } from '../src/head/share-images.ts'

const web = join(import.meta.dirname, '..')
const read = (...path: string[]) => readFile(join(web, ...path), 'utf8')
const { resolve } = createRequire(import.meta.url)
const face = async (file: string) =>
  `url(data:font/woff2;base64,${(await readFile(resolve(`@fontsource-variable/${file}`))).toString('base64')})`

/** What each says, and the drawings on it: name, its own width and height, and how wide it is here. */
const images: Record<
  ShareImage,
  { words: string; drawings: [name: string, width: number, height: number, wide: number][] }
> = {
  home: {
    words: 'Empowering kids to build the future',
    drawings: [
      ['spider', 280, 206, 400],
      ['rover', 240, 190, 260],
      ['walker', 240, 190, 260],
    ],
  },
  classes: {
    words: 'Live robotics classes, in four levels',
    drawings: [
      ['rover', 240, 190, 235],
      ['arm', 240, 190, 235],
      ['walker', 240, 190, 235],
      ['shape-shifter', 240, 190, 235],
    ],
  },
  membership: { words: 'Your place at the members’ bench', drawings: [['class-scene', 440, 340, 560]] },
  innovator: { words: 'From an idea to a company', drawings: [['innovator-scene', 440, 340, 560]] },
  guides: {
    words: 'Build it at home: wiring, code and what to do when it does not work',
    drawings: [
      ['led-and-button', 320, 220, 280],
      ['gear-motor', 320, 220, 280],
      ['servo-arm', 320, 220, 280],
    ],
  },
  news: {
    words: 'News from our bench',
    drawings: [
      ['welcome', 320, 220, 338],
      ['launch', 320, 220, 338],
      ['bug-robot', 320, 220, 338],
    ],
  },
  shop: {
    words: 'Kits, the Robot Spider and the Teddy Bear',
    drawings: [
      ['kit-box', 240, 190, 270],
      ['spider', 280, 206, 300],
      ['bear', 200, 190, 230],
    ],
  },
  about: {
    words: 'Small robots, and the people who build them',
    drawings: [
      ['founder', 320, 220, 338],
      ['director', 320, 220, 338],
    ],
  },
}

/** What mails show, each on the ground of its level, as `pictures.ts` there names them. */
const mailPictures: Record<string, string> = {
  rover: '#e4f5ec',
  arm: '#e5f0fc',
  walker: '#efeafc',
  'shape-shifter': '#fff0e3',
  'class-scene': '#e6f1fb',
  spider: '#e6f1fb',
  bear: '#e6f1fb',
  'kit-box': '#e6f1fb',
  welcome: '#e6f1fb',
  shield: '#e6f1fb',
}

const drawn = new Set([
  ...Object.values(images).flatMap(({ drawings }) => drawings.map(([name]) => name)),
  ...Object.keys(mailPictures),
])
const [tokens, mark] = await Promise.all([read('src', 'ui', 'tokens.css'), read('public', 'favicon.svg')])
const sources = new Map(
  await Promise.all(
    [...drawn].map(
      async (name) =>
        [name, `data:image/svg+xml;base64,${Buffer.from(await drawing(name)).toString('base64')}`] as const,
    ),
  ),
)
const heading = await face('bricolage-grotesque/files/bricolage-grotesque-latin-wght-normal.woff2')

function shareImage({ words, drawings }: (typeof images)[ShareImage]): string {
  const pictures = drawings.map(
    ([name, width, height, wide]) =>
      `<img class="${width === 320 ? 'window' : ''}" src="${sources.get(name)}" width="${wide}" style="aspect-ratio: ${width} / ${height}">`,
  )
  return `<!doctype html><style>
    @font-face { font-family: 'Bricolage Grotesque'; src: ${heading}; font-weight: 200 800 }
    ${tokens}
    body { margin: 0; width: 1200px; height: 630px; box-sizing: border-box; padding: 64px 72px; display: grid; align-content: space-between;
      color-scheme: light; background: var(--blueprint), var(--paper); color: var(--ink); font-family: var(--heading) }
    body.one { grid-template-columns: 1fr auto; align-items: center }
    .name { display: flex; align-items: center; gap: 16px; font-size: 34px; font-weight: 650; margin: 0 0 24px }
    .name svg { width: 60px }
    h1 { font-size: 66px; line-height: 1.08; font-weight: 700; margin: 0; max-width: 17ch; text-wrap: balance }
    body:not(.one) h1 { max-width: 24ch; font-size: 62px }
    .pictures { display: flex; align-items: end; gap: 20px }
    /* Those with a ground that goes to their edges are seen through a window, as on the pages. */
    .window { box-sizing: border-box; border: 1px solid var(--line); border-radius: var(--radius); background: var(--blueprint), var(--note-tint) }
  </style><body class="${drawings.length === 1 ? 'one' : ''}">
    <div><p class="name">${mark}Robo Kids Learning</p><h1>${words}</h1></div>
    <div class="pictures">${pictures.join('')}</div>`
}

/** The mark on nothing, or on paper with room around it. */
function icon(size: number, ground: 'none' | 'paper', share = 0.62): string {
  const inner = ground === 'paper' ? Math.round(size * share) : size
  return `<!doctype html><style>
    body { margin: 0; width: ${size}px; height: ${size}px; display: grid; place-items: center; background: ${ground === 'paper' ? '#fbfaf6' : 'none'} }
    svg { width: ${inner}px; height: ${inner}px; display: block }
  </style><body>${mark}`
}

/** Twice as large as it is shown, and opaque: a mail program may turn the colours around it. */
function mailPicture(name: string, ground: string): string {
  return `<!doctype html><style>
    body { margin: 0; width: 288px; height: 228px; display: grid; place-items: center; background: ${ground} }
    img { display: block; width: 272px; height: 216px; object-fit: contain }
  </style><body><img src="${sources.get(name)}">`
}

const icons: [file: string, size: number, ground: 'none' | 'paper'][] = [
  ['icon-32', 32, 'none'],
  ['icon-180', 180, 'paper'],
  ['icon-192', 192, 'none'],
  ['icon-512', 512, 'none'],
  ['icon-maskable-512', 512, 'paper'],
]

const browser = await chromium.launch({ executablePath: await findChromium(), args: ['--no-sandbox'] })
const page = await browser.newPage({ colorScheme: 'light' })
const draw = async (path: string, html: string, width: number, height: number) => {
  await page.setViewportSize({ width, height })
  await page.setContent(html)
  await page.evaluate(() => document.fonts.ready)
  await page.screenshot({ path, omitBackground: true })
}
const [site, mails] = [join(web, 'public'), join(web, '../services/notifications/pictures')]
for (const [name, image] of Object.entries(images))
  await draw(join(site, `og/${name}.png`), shareImage(image), 1200, 630)
for (const [file, size, ground] of icons) await draw(join(site, `icons/${file}.png`), icon(size, ground), size, size)
for (const [name, ground] of Object.entries(mailPictures))
  await draw(join(mails, `${name}.png`), mailPicture(name, ground), 288, 228)
await draw(join(mails, 'mark.png'), icon(80, 'paper', 0.8), 80, 80)
await browser.close()

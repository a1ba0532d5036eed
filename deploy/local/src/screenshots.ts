import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { findChromium } from './chromium.ts'
import { findNatsServer } from './nats.ts'
import { findPostgres } from './postgres.ts'
import { root } from './settings.ts'
import { buildWeb } from './web-build.ts'

/**
 * `npm run screenshots`: screenshots of every page, state and mail at phone and desktop width, in the folder
 * `screenshots`. The tests take them, so a screen or mail added to those is included.
 */
const folder = join(root, 'screenshots')
const [phone, desktop] = [390, 1280]

const browserPath = await findChromium()
await Promise.all([findNatsServer(), findPostgres(), buildWeb()])
await rm(folder, { recursive: true, force: true })

async function runTests(...args: string[]): Promise<void> {
  const env = { ...process.env, CHROMIUM_PATH: browserPath, SCREENSHOTS: folder }
  const child = spawn('vitest', ['run', '--silent', '--reporter=dot', ...args], { cwd: root, stdio: 'inherit', env })
  const [code] = (await once(child, 'exit')) as [number | null]
  // Screenshots taken so far are still useful.
  if (code !== 0) process.exitCode = 1
}

/** Takes screenshots of the mails, which the tests saved as HTML. */
async function drawMails(): Promise<void> {
  const mails = join(folder, 'mails')
  await mkdir(mails, { recursive: true })
  const mailFiles = (await readdir(mails)).filter((file) => file.endsWith('.html'))
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  try {
    for (const width of [phone, desktop]) {
      const page = await browser.newPage({ viewport: { width, height: 900 } })
      for (const mailFile of mailFiles) {
        await page.goto(pathToFileURL(join(mails, mailFile)).href)
        await page.screenshot({ path: join(mails, mailFile.replace(/html$/, `${width}.png`)), fullPage: true })
      }
    }
  } finally {
    await browser.close()
  }
}

/** The pictures of the README: the first view of a page, in a file small enough for the repository. */
async function drawReadmePictures(): Promise<void> {
  const pictures = [
    { page: 'robokidslanding', width: desktop, height: 800, name: 'classes' },
    { page: 'robokidspage1', width: phone, height: 800, name: 'registration' },
  ]
  const target = join(root, 'docs/images')
  await mkdir(target, { recursive: true })
  const browser = await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox'] })
  try {
    for (const { page: file, width, height, name } of pictures) {
      const page = await browser.newPage({ viewport: { width, height } })
      await page.goto(pathToFileURL(join(folder, 'pages', `${file}.${width}.png`)).href)
      await page.locator('img').evaluate((picture) => {
        picture.style.cssText = 'position: absolute; inset: 0 auto auto 0; width: 100vw; height: auto'
      })
      await page.screenshot({ path: join(target, `${name}.jpg`), type: 'jpeg', quality: 75 })
    }
  } finally {
    await browser.close()
  }
}

/** Writes a page with all screenshots, each at both widths. */
async function writeIndex(): Promise<number> {
  const kinds = await Promise.all(
    ['pages', 'mails'].map(async (kind) => {
      const files = await readdir(join(folder, kind)).catch(() => [])
      const names = files.filter((file) => file.endsWith(`.${phone}.png`)).map((file) => file.slice(0, -8))
      const figures = names.toSorted().map((name) => {
        const picture = (width: number) => {
          const path = `${kind}/${encodeURIComponent(name)}.${width}.png`
          return `<a href="${path}"><img src="${path}" alt="${name} at ${width} pixels" height="480" loading="lazy"></a>`
        }
        return `<figure><figcaption>${name}</figcaption>${picture(phone)} ${picture(desktop)}</figure>`
      })
      return { count: names.length, html: `<h1>${kind}</h1>${figures.join('\n')}` }
    }),
  )
  const html = `<!doctype html><meta charset="utf-8"><title>Screenshots</title>${kinds.map((kind) => kind.html).join('\n')}`
  await writeFile(join(folder, 'index.html'), html)
  return kinds.reduce((sum, { count }) => sum + count, 0)
}

await runTests('--project', 'browser', 'web/e2e/app/visitor-pages.test.ts', 'web/e2e/app/routes.test.ts')
await runTests('--project', 'integration', 'services/notifications/test')
await drawMails()
await drawReadmePictures()
const count = await writeIndex()
console.log(`${count} pages, states and mails, each at ${phone} and ${desktop} pixels: ${join(folder, 'index.html')}`)

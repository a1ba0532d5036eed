import { readdir, readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { pagePaths } from '@robokids/contracts/pages'
import { root } from '@robokids/local/settings'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { firstLoadScripts } from '../../first-load.ts'
import { eventually, useSite } from '../fixture.ts'
import {
  allHasCome,
  breakStorage,
  faultsOf,
  heading,
  layoutShift,
  settled,
  sidewaysScroll,
  watchLayoutShift,
} from '../pages.ts'
import { framedTexts, quotedTexts, scriptedTexts } from '../quoted-texts.ts'
import { draw } from '../screenshots.ts'

const site = useSite()
const dist = join(root, 'web/dist')

/** Every page that is the same for all visitors: path, document title and heading. */
const shared: Readonly<Record<string, readonly [title: string, heading: string]>> = {
  '/': ['Empowering Kids to Build the Future', 'Empowering Kids to Build the Future with Robotic Engineering.'],
  '/robokidslanding': ['Live robotics classes', 'Live robotics classes, with the kit shipped to your home'],
  '/levels': ['Compare levels', 'Which level fits your child?'],
  '/robokids': ['Level 1 Foundations', 'Level 1 Foundations'],
  '/robokidspage1': ['Level 1 Foundations', 'Level 1 Foundations'],
  '/robokidspage2': ['Level 2 Smart Robotics and Coding', 'Level 2 Smart Robotics and Coding'],
  '/robokidspage3': ['Level 3 Autonomous Mastery', 'Level 3 Autonomous Mastery'],
  '/robokidspage4': ['Level X Custom Innovation Lab', 'Level X Custom Innovation Lab'],
  '/membership': ['Membership', 'Your seat at the members’ bench'],
  '/membership/register': ['Create Your ChronoTech Account', 'Create Your ChronoTech Account'],
  '/membership/login': ['Log in', 'Log in'],
  '/confirm': ['Confirm Your Email', 'Confirm Your Email'],
  '/about': ['About us', 'Small robots, and the people who build them'],
  '/about/founder-robo-kids-learning': ['The founder', 'The founder of Robo Kids Learning'],
  '/about/director-educational-services': [
    'The Director of Educational Services',
    'The Director of Educational Services',
  ],
  '/contact': ['Contact Us', 'Contact Us'],
  '/faq': ['FAQ', 'Questions that parents ask'],
  '/privacy': ['Privacy Policy', 'Privacy Policy'],
  '/terms': ['Terms of Service', 'Terms of Service'],
  '/news-guides': ['News & Guides', 'Things to read, things to build'],
  '/news': ['News', 'What is new'],
  '/blog': ['Blog', 'Notes from the bench'],
  '/news/welcome': ['Welcome to Robo Kids Learning', 'Welcome to Robo Kids Learning'],
  '/news/security-basics': ['How to tell a safe website', 'How to tell a safe website from one that only looks safe'],
  '/news/fall-launch': ['Fall 2025 classes', 'Our fall 2025 classes begin in October'],
  '/news/bugbots': ['Bug robots', 'Bug robots: small, soft and hard to break'],
  '/guides/light-switch': ['Guide: light switch', 'A light switch of your own'],
  '/guides/motor-guide': ['Guide: motor', 'Drive a motor, both ways and at any speed'],
  '/guides/servo-guide': ['Guide: servo', 'Turn a servo to the angle you want'],
  '/innovator': ['Innovator Program', 'From an idea to a company'],
  '/follow': ['Follow Us', 'See what is on the bench'],
  '/shop': ['Shop', 'Kits and robots'],
  '/shop/robot-spider': ['Robot Spider', 'Robot Spider'],
  '/shop/teddy-bear': ['AI Teddy Bear Companion', 'AI Teddy Bear Companion'],
}

/** Pages with data from the server. */
const asksTheServer =
  /^\/(shop(\/(robot-spider|teddy-bear))?|levels|robokids.*|membership(\/register)?|terms|news\/fall-launch)$/

/** Pages with forms. */
const forms = /^\/(robokids(page\d)?|membership\/.+|confirm|contact)$/

const documentOf = (path: string) => readFile(join(dist, path === '/' ? 'index.html' : `${path.slice(1)}.html`), 'utf8')

const headerLinks = ['/', '/robokidslanding', '/membership/login']

/** The overflow of the page, and the links of its header that are out of sight. */
async function outOfSight(page: Page): Promise<string[]> {
  const sideways = await sidewaysScroll(page)
  const seen = await page
    .getByRole('banner')
    .getByRole('link')
    .evaluateAll((links) =>
      links
        .filter((link) => {
          const { left, right, top, bottom } = link.getBoundingClientRect()
          return left >= 0 && right <= innerWidth && top >= 0 && bottom <= 60
        })
        .map((link) => link.getAttribute('href')),
    )
  return [
    ...(sideways > 0 ? [`${sideways} px too wide`] : []),
    ...headerLinks.filter((link) => !seen.includes(link)).map((link) => `${link} is not in sight`),
  ]
}

/** Checks that the page fits from 320 to 1920 px, with the links to the classes and the account in sight. */
async function expectItFits(page: Page, path: string): Promise<void> {
  for (const width of [320, 360, 390, 768, 1280, 1440, 1920]) {
    await page.setViewportSize({ width, height: 900 })
    await eventually(async () => [path, width, ...(await outOfSight(page))]).toEqual([path, width])
  }
}

const asking = Object.keys(shared).filter((path) => asksTheServer.test(path))

describe('every page', () => {
  it.each([
    ['with data of the server', asking],
    ['that is always the same', Object.keys(shared).filter((path) => !asking.includes(path))],
  ])(
    '%s has its title, its heading and working links, fits every window, does not shift and logs nothing',
    async (_, paths) => {
      // The scripts are requested after the first paint.
      site.api.delayMs = 200
      const page = await site.open({
        viewport: { width: 360, height: 740 },
        reducedMotion: 'reduce',
        colorScheme: 'light',
      })
      const complaints: string[] = []
      page.on('console', (message) => {
        if (['error', 'warning'].includes(message.type())) complaints.push(message.text())
      })
      page.on('pageerror', (error) => complaints.push(String(error)))
      await watchLayoutShift(page)
      for (const path of paths) {
        const [title, name] = shared[path] ?? []
        const response = await page.goto(path)
        expect([path, response?.status()]).toEqual([path, 200])
        if (asksTheServer.test(path)) await allHasCome(page)
        await settled(page)
        expect([path, await layoutShift(page)]).toEqual([path, 0])
        expect([path, await page.title()]).toEqual([path, `${title} · Robo Kids Learning`])
        expect([path, await heading(page).allInnerTexts()]).toEqual([path, [name]])
        await draw(page, path)
        await expectItFits(page, path)
        expect([path, await faultsOf(page, [])]).toEqual([path, []])
        expect([path, complaints]).toEqual([path, []])
      }
    },
    300_000,
  )

  it('with data of the server does not shift on a tablet either', async () => {
    site.api.delayMs = 200
    const page = await site.open({ viewport: { width: 768, height: 900 }, reducedMotion: 'reduce' })
    await watchLayoutShift(page)
    for (const path of asking) {
      await page.goto(path)
      await allHasCome(page)
      await settled(page)
      expect([path, await layoutShift(page)]).toEqual([path, 0])
    }
  })

  it('about one visitor fits from 320 to 1920 px, with the links to the classes and the account in sight', async () => {
    const page = await site.open({ reducedMotion: 'reduce', viewport: { width: 320, height: 900 } })
    for (const path of pagePaths.filter((path) => !(path in shared))) {
      await page.goto(path)
      await heading(page).first().waitFor()
      await expectItFits(page, path)
    }
  })

  it('is shown on a wide screen when storage is blocked, and does not move', async () => {
    site.api.delayMs = 200
    const page = await site.open({ viewport: { width: 1440, height: 900 } })
    await breakStorage(page, 'blocked')
    await watchLayoutShift(page)
    await page.goto('/')
    await page.getByRole('button', { name: 'Accept' }).click()
    await page.getByRole('region', { name: 'Cookies' }).waitFor({ state: 'hidden' })
    // Pages that use storage; the others are alike.
    for (const path of pagePaths.filter((path) => asksTheServer.test(path) || !(path in shared))) {
      await page.goto(path)
      await heading(page).first().waitFor()
      if (!asksTheServer.test(path)) continue
      await allHasCome(page)
      expect([path, await layoutShift(page)]).toEqual([path, 0])
    }
  }, 180_000)

  it('is painted when all of it has loaded, however slowly', async () => {
    const document = await documentOf('/robokidspage2')
    let sendTheRest: () => void = () => undefined
    const slow = createServer((request, response) => {
      if (request.url === '/rest') sendTheRest()
      const cut = /^\/cut-(\d+)$/.exec(request.url ?? '')?.[1]
      // An empty element for the message about missing files.
      const type = request.url?.endsWith('.css') ? 'text/css' : 'text/javascript'
      if (cut === undefined) return response.writeHead(200, { 'content-type': type }).end()
      const at = document.indexOf('<body>') + Number(cut)
      sendTheRest = () => response.end(document.slice(at))
      return response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' }).write(document.slice(0, at))
    })
    await new Promise<void>((resolve) => {
      slow.listen(0, '127.0.0.1', resolve)
    })
    onTestFinished(() => {
      slow.closeAllConnections()
      slow.close()
    })
    const baseURL = `http://localhost:${(slow.address() as AddressInfo).port}`
    const page = await site.open({ viewport: { width: 1440, height: 900 }, baseURL })
    await watchLayoutShift(page)
    // The rest is sent once the half is painted, or was not for long enough.
    await page.addInitScript(() => {
      const ask = () => {
        performance.mark('ask')
        void fetch('/rest')
      }
      new PerformanceObserver(ask).observe({ type: 'paint' })
      setTimeout(ask, 300)
    })
    for (const cut of [1_000, 2_500, 5_000, 10_000]) {
      await page.goto(`/cut-${cut}`, { waitUntil: 'load' })
      const paintedBefore = await page.evaluate(async () => {
        const paint = await new Promise<PerformanceEntry | undefined>((resolve) => {
          new PerformanceObserver((list) => resolve(list.getEntries()[0])).observe({ type: 'paint', buffered: true })
        })
        const [asked] = performance.getEntriesByName('ask')
        return !paint || !asked || paint.startTime < asked.startTime
      })
      expect([cut, paintedBefore, await layoutShift(page)]).toEqual([cut, false, 0])
    }
  })

  it('can be read before scripts run and without scripts, and reserves space for each picture until it loads', async () => {
    const page = await site.open({ javaScriptEnabled: false, reducedMotion: 'reduce' })
    // They never respond.
    await page.route('**/drawings/*', () => undefined)
    const expectSpace = async (path: string) => {
      for (const width of [360, 768, 1440]) {
        await page.setViewportSize({ width, height: 900 })
        const flat = await page
          .locator('img[width]')
          .evaluateAll((pictures) =>
            pictures
              .filter((picture) => picture.checkVisibility() && picture.clientHeight === 0)
              .map((picture) => picture.getAttribute('src')),
          )
        expect([path, width, flat]).toEqual([path, width, []])
      }
    }
    for (const [path, [title, name]] of Object.entries(shared)) {
      await page.setViewportSize({ width: 360, height: 900 })
      await page.goto(path, { waitUntil: 'domcontentloaded' })
      expect([await page.title(), await heading(page).innerText()]).toEqual([`${title} · Robo Kids Learning`, name])
      if (forms.test(path)) expect([path, await page.locator('noscript p').first().isVisible()]).toEqual([path, true])
      await expectSpace(path)
    }
    const missing = await page.goto('/no/such/page', { waitUntil: 'domcontentloaded' })
    expect([missing?.status(), await heading(page).innerText()]).toEqual([404, 'This page took itself apart'])
    await expectSpace('/no/such/page')
    await page.unroute('**/drawings/*')
    await page.setViewportSize({ width: 360, height: 740 })
    await page.goto('/terms')
    expect(await page.locator('main section h2').count()).toBe(19)
    expect((await page.locator('main').innerText()).length).toBeGreaterThan(5_000)
    await page.goto('/about/founder-robo-kids-learning')
    await page.getByRole('link', { name: 'Read the guides' }).click()
    await page.waitForURL('**/news-guides')
    expect(await page.locator('main li h3').count()).toBe(7)
    await page.goto('/profile')
    expect(await page.title()).toBe('Your profile · Robo Kids Learning')
    expect(await page.locator('noscript p').innerText()).toContain('This page needs JavaScript.')
  })

  it('shows no cookie banner after it was accepted, from the first paint on', async () => {
    const page = await site.open()
    await page.goto('/')
    await page.getByRole('button', { name: 'Accept' }).click()
    // Without the application: only the document's own scripts.
    await page.route('**/assets/main-*.js', (route) => route.abort())
    await page.goto('/about', { waitUntil: 'domcontentloaded' })
    expect(await page.getByRole('region', { name: 'Cookies' }).isVisible()).toBe(false)
  })

  it('updates the document’s head on navigation', async () => {
    const page = await site.open({ viewport: { width: 1280, height: 800 } })
    await page.goto('/news/bugbots')
    await page.getByRole('link', { name: 'News & Guides' }).first().click()
    await eventually(() => page.locator('link[rel="canonical"]').getAttribute('href')).toBe(`${site.url}/news-guides`)
    expect(await page.locator('meta[property="og:url"]').getAttribute('content')).toBe(`${site.url}/news-guides`)
    expect(await page.locator('meta[name="description"]').count()).toBe(1)
    expect(await page.locator('script[type="application/ld+json"]').count()).toBe(0)
  })
})

describe('a built document', () => {
  it('has metadata for search engines, or noindex if it is personal', async () => {
    for (const path of pagePaths) {
      const document = await documentOf(path)
      if (!Object.hasOwn(shared, path)) {
        expect([path, document.includes('<meta name="robots" content="noindex"/>')]).toEqual([path, true])
        continue
      }
      const canonical = path === '/robokids' ? '/robokidspage1' : path
      expect(document).toContain(`<link rel="canonical" href="https://site.invalid${canonical}"/>`)
      expect(document).not.toContain('noindex')
      const description = /<meta name="description" content="([^"]*)"/.exec(document)?.[1] ?? ''
      expect([path, description.length > 50 && description.length <= 165]).toEqual([path, true])
      const image = /<meta property="og:image" content="https:\/\/site.invalid([^"]*)"/.exec(document)?.[1] ?? ''
      expect((await readFile(join(dist, image))).subarray(1, 4).toString()).toBe('PNG')
      const data = /<script type="application\/ld\+json">(.*?)<\/script>/s.exec(document)?.[1] ?? '{}'
      const types = (JSON.parse(data) as { '@graph': { '@type': string }[] })['@graph'].map((thing) => thing['@type'])
      expect(types).toContain(path === '/' ? 'EducationalOrganization' : 'BreadcrumbList')
      if (path.startsWith('/news/')) expect(types).toContain('Article')
      if (/^\/(robokids(page\d)?|faq)$/.test(path)) expect(types).toContain('FAQPage')
      // The server adds prices and dates.
      expect(data).not.toMatch(/"(price|startDate)"/)
    }
  })

  it('contains the specified texts, word for word, and its scripts the rest', async () => {
    const entities: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', '#x27': "'" }
    const missing: string[] = []
    for (const path of pagePaths) {
      const document = await documentOf(path)
      const text = document
        .replaceAll(/<(style|script|template|svg)\b.*?<\/\1>|<!--.*?-->/gs, '')
        .replaceAll(/<[^>]*>/g, ' ')
        .replaceAll(/&(#?\w+);/g, (entity, name: string) => entities[name] ?? entity)
        .replaceAll(/\s+/g, ' ')
        .toLowerCase()
      for (const words of [...framedTexts, ...(quotedTexts[path] ?? [])]) {
        if (!text.includes(words.toLowerCase())) missing.push(`${path}: ${words}`)
      }
    }
    const names = await readdir(join(dist, 'assets'))
    const scripts = await Promise.all(
      names.filter((name) => name.endsWith('.js')).map((name) => readFile(join(dist, 'assets', name), 'utf8')),
    )
    const all = scripts.join('\n')
    missing.push(
      ...scriptedTexts.filter((words) => !all.includes(words) && !all.includes(words.replaceAll("'", "\\'"))),
    )
    expect(missing).toEqual([])
  })

  it('is in the sitemap if it is indexed', async () => {
    const sitemap = await readFile(join(dist, 'sitemap.xml'), 'utf8')
    const listed = [...sitemap.matchAll(/<loc>https:\/\/site\.invalid([^<]*)<\/loc>/g)].map(([, path]) => path)
    const wanted = pagePaths.filter((path) => path in shared && path !== '/robokids')
    expect(new Set(listed)).toEqual(new Set(wanted))
    expect((await readFile(join(dist, 'news/rss.xml'), 'utf8')).match(/<item>/g)).toHaveLength(4)
    expect(await readFile(join(dist, 'robots.txt'), 'utf8')).toContain('Sitemap: https://site.invalid/sitemap.xml')
  })

  it.each(pagePaths)('%s stays below its first load limit, and loads no schema library', async (path) => {
    const sizes = await firstLoadScripts(dist, path)
    const size = [...sizes.values()].reduce((sum, one) => sum + one, 0)
    expect(size).toBeGreaterThan(50_000)
    expect(size).toBeLessThanOrEqual(path in shared && !forms.test(path) ? 119_000 : 145_000)
    const scripts = await Promise.all([...sizes.keys()].map((address) => readFile(join(dist, address), 'utf8')))
    // A string that only zod contains.
    expect(scripts.filter((script) => script.includes('invalid_union'))).toEqual([])
  })
})

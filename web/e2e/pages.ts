import { pagePaths, redirects } from '@robokids/contracts/pages'
import type { Page } from 'playwright-core'
import { findings } from './axe.ts'

export interface Family {
  guardianName: string
  email: string
  addressLine1: string
  addressLine2: string
  city: string
  state: string
  zipCode: string
  children: { name: string; age: string }[]
  /** `YYYY-MM-DD`; the first date that is not full when it is left out. */
  startDate?: string
}

export const sampleFamily: Family = {
  guardianName: 'Maren Holt',
  email: 'maren.holt@example.com',
  addressLine1: '14 Alder Way',
  addressLine2: '',
  city: 'Cambridge',
  state: 'MA',
  zipCode: '02139',
  children: [{ name: 'Ivo', age: '9' }],
}

export const signUpPaths = {
  basic: '/robokidspage1',
  intermediate: '/robokidspage2',
  advanced: '/robokidspage3',
  custom: '/robokidspage4',
} as const

/** The date cards: in a level's form, and in the membership's. */
export const dateCards = (page: Page) => page.getByRole('radiogroup', { name: /^(Start|Class) date$/ })

/** Waits until the dates are loaded; returns the first that can be chosen. */
export async function firstOpenDate(page: Page): Promise<string> {
  const open = dateCards(page).locator('input:enabled').first()
  await open.waitFor()
  return (await open.getAttribute('value')) ?? ''
}

/** @param date `YYYY-MM-DD`; the first date that is not full when it is left out. */
export async function chooseDate(page: Page, date?: string): Promise<string> {
  const chosen = date ?? (await firstOpenDate(page))
  await dateCards(page).locator(`input[value="${chosen}"]`).check()
  return chosen
}

/** The selected date, if any. */
export async function chosenDate(page: Page): Promise<string> {
  const [chosen] = await dateCards(page)
    .locator('input:checked')
    .evaluateAll((all) => all.map((input) => (input as HTMLInputElement).value))
  return chosen ?? ''
}

/** Fills in the open sign-up form. */
export async function fillSignUp(page: Page, changes: Partial<Family> = {}): Promise<Family> {
  const family = { ...sampleFamily, ...changes }
  await page.getByLabel('Guardian name').fill(family.guardianName)
  await page.getByLabel('Email', { exact: true }).fill(family.email)
  await page.getByLabel('Address line 1').fill(family.addressLine1)
  await page.getByLabel(/^Address line 2/).fill(family.addressLine2)
  await page.getByLabel('City').fill(family.city)
  await page.getByLabel('State', { exact: true }).fill(family.state)
  await page.getByLabel('Zip code').fill(family.zipCode)
  for (const [index, { name, age }] of family.children.entries()) {
    if (index > 0) await page.getByRole('button', { name: 'Add a sibling' }).click()
    await page.getByLabel("Child's first name").nth(index).fill(name)
    await page.getByLabel("Child's age").nth(index).fill(age)
  }
  const startDate = await chooseDate(page, family.startDate)
  return { ...family, startDate }
}

export const submitButton = (page: Page) =>
  page.getByRole('button', { name: /^(Continue to payment|Processing\.\.\.)$/ })
export const alertBox = (page: Page) => page.getByRole('alertdialog')
export const heading = (page: Page) => page.getByRole('heading', { level: 1 })

/** Reads an alert and closes it. */
export async function closeAlert(page: Page): Promise<string> {
  const message = await alertBox(page).locator('p').innerText()
  await alertBox(page).getByRole('button', { name: 'OK' }).click()
  await alertBox(page).waitFor({ state: 'hidden' })
  return message
}

/** From the confirmation page to the signed waiver. */
export async function signWaiver(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Read and sign the waiver' }).click()
  await page.getByLabel('I have read the waiver and agree to it.').check()
  await page.getByRole('button', { name: 'I Agree & Complete Registration' }).click()
  await page.getByRole('heading', { name: 'Waiver submitted successfully!' }).waitFor()
}

/** The rows of the details on a page: `Start date` → `Friday, October 3, 2025`. */
export async function detailsOf(page: Page): Promise<Record<string, string>> {
  await page.locator('main dl').first().waitFor()
  return page
    .locator('main dl > div')
    .evaluateAll((rows) =>
      Object.fromEntries(
        rows.map((row) => [row.querySelector('dt')?.textContent ?? '', row.querySelector('dd')?.innerText ?? '']),
      ),
    )
}

/** Records every text that the page's body ever shows. Read it with `textsSeen`. */
export async function watchTexts(page: Page): Promise<void> {
  await page.addInitScript(() => {
    const seen: string[] = []
    Object.assign(window, { textsSeen: seen })
    new MutationObserver(() => {
      const text = document.body?.innerText ?? ''
      if (seen.at(-1) !== text) seen.push(text)
    }).observe(document, { subtree: true, childList: true, characterData: true })
  })
}

export function textsSeen(page: Page): Promise<string> {
  return page.evaluate(() => (window as unknown as { textsSeen: string[] }).textsSeen.join('\n'))
}

/** Storage whose getter throws, as with blocked cookies, or whose `setItem` throws, as when it is full. */
export async function breakStorage(page: Page, how: 'blocked' | 'full'): Promise<void> {
  await page.addInitScript((kind) => {
    // Not in the browser's PDF viewer, which has its own document.
    if (!location.protocol.startsWith('http')) return
    if (kind === 'full') {
      Storage.prototype.setItem = () => {
        throw new DOMException('The quota has been exceeded.', 'QuotaExceededError')
      }
      return
    }
    for (const name of ['sessionStorage', 'localStorage']) {
      Object.defineProperty(window, name, {
        get() {
          throw new DOMException('Access is denied for this document.', 'SecurityError')
        },
      })
    }
  }, how)
}

/** The horizontal overflow of the page. */
export function sidewaysScroll(page: Page): Promise<number> {
  return page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
}

/** Sums up layout shifts that are not caused by input. Read it with `layoutShift`. */
export async function watchLayoutShift(page: Page): Promise<void> {
  await page.addInitScript(() => {
    Object.assign(window, { layoutShift: 0 })
    const seen = window as unknown as { layoutShift: number }
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number; hadRecentInput: boolean })[]) {
        if (!entry.hadRecentInput) seen.layoutShift += entry.value
      }
    }).observe({ type: 'layout-shift', buffered: true })
  })
}

export function layoutShift(page: Page): Promise<number> {
  return page.evaluate(() => (window as unknown as { layoutShift: number }).layoutShift)
}

/** The page's broken links. */
async function wrongLinks(page: Page): Promise<string[]> {
  const links = await page
    .locator('a')
    .evaluateAll((all) =>
      all.map(
        (link) =>
          [link.getAttribute('href') ?? '', link.getAttribute('target') ?? '', link.getAttribute('rel') ?? ''] as const,
      ),
    )
  const anchors = await page
    .locator('[id], [name]')
    .evaluateAll((elements) => elements.flatMap((one) => [`#${one.id}`, `#${one.getAttribute('name')}`]))
  const known = new Set<string>([...pagePaths, ...Object.keys(redirects), ...anchors, '/waiver.pdf', '/no-such-page'])
  return links.flatMap(([href, target, rel]) => {
    if (/^(mailto|blob|otpauth):/.test(href)) return []
    if (href.startsWith('https://'))
      return target === '_blank' && rel === 'noopener noreferrer' ? [] : [`${href} ${target} ${rel}`]
    // The sections of other pages are unknown here.
    return known.has(href.split(href.startsWith('/') ? /[?#]/ : '?')[0] ?? '') ? [] : [href]
  })
}

/** The overflow of the page at the given widths. The page stays at the last of them. */
async function overflowsAt(page: Page, widths: readonly number[]): Promise<string[]> {
  const faults: string[] = []
  for (const width of widths) {
    await page.setViewportSize({ width, height: width < 768 ? 740 : 900 })
    const fits = await page
      .waitForFunction(() => document.documentElement.scrollWidth === document.documentElement.clientWidth, undefined, {
        timeout: 10_000,
      })
      .then(
        () => true,
        () => false,
      )
    if (!fits) faults.push(`${await sidewaysScroll(page)} px too wide for ${width}`)
  }
  return faults
}

/**
 * The faults of the page in its current state: heading, links, overflow on a phone, a tablet and a desktop (or at other
 * `widths`), and axe violations in light and dark mode. The page is at 360 px and light before and after.
 */
export async function faultsOf(page: Page, widths: readonly number[] = [360, 768, 1440]): Promise<string[]> {
  const faults = await wrongLinks(page)
  const headings = await heading(page).count()
  if (headings !== 1) faults.push(`${headings} headings`)
  if (!/^\S.* · Robo Kids Learning$/.test(await page.title())) faults.push(`title ${await page.title()}`)
  faults.push(...(await overflowsAt(page, widths)))
  // Text of twice the size on the narrowest phone.
  await page.setViewportSize({ width: 320, height: 740 })
  await page.evaluate(() => {
    document.documentElement.style.fontSize = '200%'
  })
  const sideways = await sidewaysScroll(page)
  if (sideways > 0) faults.push(`${sideways} px too wide for 320 with large letters`)
  await page.evaluate(() => {
    document.documentElement.style.fontSize = ''
  })
  await page.setViewportSize({ width: 360, height: 740 })
  faults.push(...(await findings(page, { inDark: true })))
  return faults
}

/** Waits until nothing is `aria-busy`. */
export function settled(page: Page): Promise<void> {
  return page.locator('body:not(:has([aria-busy="true"]))').waitFor()
}

/** Waits until the network has been idle for half a second, so that the layout is final. */
export function allHasCome(page: Page): Promise<void> {
  return page.evaluate(
    () =>
      new Promise<void>((resolve) => {
        const quiet = () => setTimeout(resolve, 500)
        let timer = quiet()
        new PerformanceObserver(() => {
          clearTimeout(timer)
          timer = quiet()
        }).observe({ type: 'resource' })
      }),
  )
}

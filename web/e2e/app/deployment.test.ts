import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, newVisitor } from '../browser.ts'
import { firstOpenDate } from '../pages.ts'
import { anotherBuild, type Build, serveSite } from '../site.ts'
import { StubApi } from '../stub-api.ts'

let browser: Browser
let after: Build

beforeAll(async () => {
  browser = await launchBrowser()
  await buildWeb()
  // The same files with other names, as after a change to each of them.
  after = await anotherBuild('--assetsDir', 'newer')
})
afterAll(async () => {
  await browser.close()
  await after.remove()
})

describe('a tab from before a deployment', () => {
  it('shows the next page after at most one reload, and keeps what was typed', async () => {
    let dist = join(root, 'web/dist')
    const api = new StubApi()
    const site = await serveSite(
      () => dist,
      () => api,
    )
    const { context, errors } = await newVisitor(browser, { baseURL: site.url })
    const page = await context.newPage()
    await page.goto('/robokidspage1')
    await firstOpenDate(page)
    await page.getByLabel('Guardian name').fill('Maren Holt')
    await page.getByLabel('Zip code').fill('02139')

    dist = after.dist
    let documents = 0
    page.on('request', (request) => {
      if (request.resourceType() === 'document') documents += 1
    })
    await page.getByRole('navigation').getByRole('link', { name: 'Robo Kids Learning' }).last().click()
    await page.waitForURL('**/robokidslanding')
    await page.getByRole('link', { name: 'Register for Level 1' }).waitFor()
    // A click while the document loads may miss its target: a reload restores the scroll position.
    await page.locator('html[data-hydrated]').waitFor()
    expect(documents).toBeLessThanOrEqual(1)

    await page.getByRole('link', { name: 'Register for Level 1' }).click()
    await firstOpenDate(page)
    expect(await page.getByLabel('Guardian name').inputValue()).toBe('Maren Holt')
    expect(await page.getByLabel('Zip code').inputValue()).toBe('02139')
    expect(errors).toEqual([])
    await context.close()
    await site.close()
  })
})

describe('a screen whose script does not load', () => {
  it('times out after 120 seconds and is requested once more by a reload of the page', async () => {
    const api = new StubApi()
    const site = await serveSite(join(root, 'web/dist'), () => api)
    const { context, errors } = await newVisitor(browser, { baseURL: site.url })
    const page = await context.newPage()
    let documents = 0
    page.on('request', (request) => {
      if (request.resourceType() === 'document') documents += 1
    })
    await page.goto('/membership/login')
    await page.route('**/assets/Landing-*.js', (route) => (documents === 1 ? undefined : route.continue()))
    await page.clock.install()
    await page.getByRole('navigation').getByRole('link', { name: 'Robo Kids Learning' }).last().click()
    await page.clock.runFor(119_000)
    expect(documents).toBe(1)
    await page.clock.runFor(2_000)
    await page.getByRole('heading', { name: 'Live robotics classes, with the kit shipped to your home' }).waitFor()
    expect(documents).toBe(2)
    expect(errors).toEqual([])
    await context.close()
    await site.close()
  })
})

describe('a page whose files do not load', () => {
  /** Opens a page for which the first requests of a matching file fail. */
  async function openWithout(
    files: string,
    times: number,
    use: (page: Page, documents: () => number) => Promise<void>,
  ) {
    const api = new StubApi()
    const site = await serveSite(join(root, 'web/dist'), () => api)
    const { context, errors } = await newVisitor(browser, { baseURL: site.url, viewport: { width: 390, height: 844 } })
    const page = await context.newPage()
    let documents = 0
    page.on('request', (request) => {
      if (request.resourceType() === 'document') documents += 1
    })
    await page.route(files, (route) => (documents <= times ? route.fulfill({ status: 404 }) : route.continue()))
    await page.goto('/membership/login', { waitUntil: 'commit' })
    await use(page, () => documents)
    expect(errors).toEqual([])
    await context.close()
    await site.close()
  }
  const notice = 'Part of this page didn’t load and may not work.'

  it.each(['**/assets/main-*.js', '**/assets/*.css'])('is reloaded by itself when %s is missing at first', (files) =>
    openWithout(files, 1, async (page, documents) => {
      await page.locator('fieldset:enabled').waitFor()
      expect(documents()).toBe(2)
      expect(await page.getByText(notice).isVisible()).toBe(false)
    }),
  )

  it.each(['**/assets/main-*.js', '**/assets/*.css'])('says so when %s is missing after the reload, too', (files) =>
    openWithout(files, 2, async (page, documents) => {
      await page.getByText(notice).waitFor()
      expect(documents()).toBe(2)
      await page.getByRole('button', { name: 'Reload' }).click()
      await page.locator('fieldset:enabled').waitFor()
      expect(documents()).toBe(3)
      expect(await page.getByText(notice).isVisible()).toBe(false)
    }),
  )
})

import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { launchBrowser, newVisitor } from './browser.ts'
import { firstOpenDate } from './pages.ts'
import { anotherBuild, type Build, serveSite } from './site.ts'
import { StubApi } from './stub-api.ts'

let browser: Browser
let after: Build

beforeAll(async () => {
  browser = await launchBrowser()
  await buildWeb()
  // The same pages under other names, as after a change to each of them.
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

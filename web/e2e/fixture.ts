import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { launchBrowser, newVisitor } from './browser.ts'
import { type Build, buildWeb, serveSite, type Site } from './site.ts'
import { StubApi } from './stub-api.ts'

interface Fixture {
  api: StubApi
  url: string
  /** A new browser profile's first page. Its uncaught errors fail the test. */
  open: (options?: BrowserContextOptions) => Promise<Page>
}

/** The built web over a stubbed API: built once a file, with an API and browser profiles of its own for each test. */
export function useSite(): Fixture {
  let build: Build
  let browser: Browser
  let site: Site
  let api = new StubApi()
  let visitors: Awaited<ReturnType<typeof newVisitor>>[] = []

  beforeAll(async () => {
    ;[build, browser] = await Promise.all([buildWeb(), launchBrowser()])
  })
  afterAll(async () => {
    await browser.close()
    await build.remove()
  })
  beforeEach(async () => {
    api = new StubApi()
    site = await serveSite(build.dist, api)
  })
  afterEach(async () => {
    const errors = visitors.flatMap((visitor) => visitor.errors)
    for (const { context } of visitors) await context.close()
    visitors = []
    await site.close()
    expect(errors).toEqual([])
  })

  return {
    get api() {
      return api
    },
    get url() {
      return site.url
    },
    async open(options = {}) {
      const visitor = await newVisitor(browser, { baseURL: site.url, ...options })
      visitors.push(visitor)
      return visitor.context.newPage()
    },
  }
}

/** Asks until it is so, with patience for a slow machine. */
export function eventually<T>(ask: () => Promise<T> | T) {
  return expect.poll(ask, { timeout: 15_000, interval: 100 })
}

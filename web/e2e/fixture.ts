import { join } from 'node:path'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest'
import { type BrowserOptions, deadlineMs, launchBrowser, newVisitor } from './browser.ts'
import { serveSite, type Site } from './site.ts'
import { StubApi } from './stub-api.ts'

interface Fixture {
  api: StubApi
  url: string
  /** The first page of a new browser profile, in the school's time zone by default. Uncaught errors fail the test. */
  open: (profile?: BrowserContextOptions) => Promise<Page>
}

const running = new Map<boolean, Promise<Browser>>()

/** The browser that all test files of a worker share. It ends with the worker. */
async function sharedBrowser({ keepsPages = true }: BrowserOptions): Promise<Browser> {
  const known = await running.get(keepsPages)
  if (known?.isConnected()) return known
  const launched = launchBrowser({ keepsPages })
  running.set(keepsPages, launched)
  return launched
}

/** The built web with a stubbed API: each test has its own API and browser profiles. */
export function useSite(options: BrowserOptions = {}): Fixture {
  let browser: Browser
  let site: Site
  let api = new StubApi()
  let visitors: Awaited<ReturnType<typeof newVisitor>>[] = []

  beforeAll(async () => {
    ;[browser] = await Promise.all([sharedBrowser(options), buildWeb()])
    site = await serveSite(join(root, 'web/dist'), () => api)
  })
  afterAll(() => site.close())
  beforeEach(() => {
    api = new StubApi()
  })
  afterEach(async () => {
    const errors = visitors.flatMap((visitor) => visitor.errors)
    for (const { context } of visitors) await context.close()
    visitors = []
    expect(errors).toEqual([])
  })

  return {
    get api() {
      return api
    },
    get url() {
      return site.url
    },
    async open(profile = {}) {
      const visitor = await newVisitor(browser, { baseURL: site.url, ...profile })
      visitors.push(visitor)
      return visitor.context.newPage()
    },
  }
}

/** Retries until the assertion passes. */
export function eventually<T>(ask: () => Promise<T> | T) {
  return expect.poll(ask, { timeout: deadlineMs, interval: 100 })
}

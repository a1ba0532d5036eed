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

type Visitor = Awaited<ReturnType<typeof newVisitor>>

/** Traces cost time, so they are recorded only on request. */
const keepsTraces = process.env['TEST_TRACE'] !== undefined

/** Saves what a failed test showed last and, if traces are on, all that happened. */
async function keepEvidence(title: string, visitors: Visitor[]): Promise<void> {
  const folder = join(root, 'test-results', title.replaceAll(/[^a-z0-9]+/gi, '-').slice(0, 100))
  const files: string[] = []
  for (const [index, { context }] of visitors.entries()) {
    for (const [number, page] of context.pages().entries()) {
      const path = join(folder, `browser-${index + 1}-page-${number + 1}.png`)
      // A page that is busy or closed has nothing to show, and the test's own error says why.
      const isShown = await page.screenshot({ path, timeout: 5_000 }).catch(() => undefined)
      if (isShown) files.push(path)
    }
    if (!keepsTraces) continue
    const path = join(folder, `browser-${index + 1}.zip`)
    await context.tracing.stop({ path })
    files.push(`npx playwright-core show-trace ${path}`)
  }
  process.stderr.write(`What “${title}” showed last:\n${files.map((file) => `  ${file}\n`).join('')}`)
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
  let visitors: Visitor[] = []

  beforeAll(async () => {
    ;[browser] = await Promise.all([sharedBrowser(options), buildWeb()])
    site = await serveSite(join(root, 'web/dist'), () => api)
  })
  afterAll(() => site.close())
  beforeEach(() => {
    api = new StubApi()
  })
  afterEach(async ({ task }) => {
    if (task.result?.state === 'fail') await keepEvidence(task.name, visitors)
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
      if (keepsTraces) await visitor.context.tracing.start({ screenshots: true, snapshots: true })
      return visitor.context.newPage()
    },
  }
}

/** Retries until the assertion passes. */
export function eventually<T>(ask: () => Promise<T> | T) {
  return expect.poll(ask, { timeout: deadlineMs, interval: 100 })
}

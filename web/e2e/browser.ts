import { setTimeout as wait } from 'node:timers/promises'
import { findChromium } from '@robokids/local/chromium'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** The timeout for something that takes a moment on an idle machine. */
export const deadlineMs = 30_000

export interface BrowserOptions {
  /** Whether the back/forward cache is enabled, as in users' browsers; a headless shell has none. */
  keepsPages?: boolean
}

/** Chromium, by default with its back/forward cache. */
export async function launchBrowser({ keepsPages = true }: BrowserOptions = {}): Promise<Browser> {
  return chromium.launch({
    executablePath: await findChromium(),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-background-networking',
      '--disable-quic',
      '--disable-component-update',
      '--disable-sync',
      '--no-first-run',
    ],
    ignoreDefaultArgs: keepsPages ? ['--disable-back-forward-cache'] : [],
  })
}

/**
 * Makes every navigation wait until the page is hydrated, unless the test waits for something else. Its script is
 * requested after the first paint, which may be after `load`; and a page from the back/forward cache never loads again, so that
 * waiting for `load` after Back would never end in some browsers.
 */
function waitForAnswers(page: Page): void {
  const answers = () => {
    const { dataset } = document.documentElement
    return document.readyState === 'complete' && (!('scripts' in dataset) || 'hydrated' in dataset)
  }
  const untilItAnswers = async () => {
    const deadline = performance.now() + deadlineMs
    // If the page redirects, this waits for the target.
    while (!(await page.evaluate(answers).catch(() => false))) {
      if (performance.now() > deadline) throw new Error(`${page.url()} does not answer.`)
      await wait(20)
    }
  }
  type Options = Parameters<Page['goto']>[1]
  const waiting =
    <Result>(navigate: (options?: Options) => Promise<Result>) =>
    async (options?: Options): Promise<Result> => {
      const result = await navigate({ waitUntil: 'commit', ...options })
      if (!options?.waitUntil) await untilItAnswers()
      return result
    }
  const [goto, waitForURL] = [page.goto.bind(page), page.waitForURL.bind(page)]
  page.goto = (url, options) => waiting((all) => goto(url, all))(options)
  page.waitForURL = (url, options) => waiting((all) => waitForURL(url, all))(options)
  page.reload = waiting(page.reload.bind(page))
  page.goBack = waiting(page.goBack.bind(page))
  page.goForward = waiting(page.goForward.bind(page))
}

/** A visitor's browser, whose errors are collected in `errors`. */
export async function newVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; errors: string[] }> {
  const context = await browser.newContext({ locale: 'en-US', timezoneId: 'America/Los_Angeles', ...options })
  context.setDefaultTimeout(deadlineMs)
  const errors: string[] = []
  context.on('page', waitForAnswers)
  context.on('weberror', (error) => errors.push(String(error.error())))
  return { context, errors }
}

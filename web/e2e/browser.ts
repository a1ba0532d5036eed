import { setTimeout as wait } from 'node:timers/promises'
import { findChromium } from '@robokids/local/chromium'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

/** Chromium with its back/forward cache, as people have it. */
export async function launchBrowser(): Promise<Browser> {
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
    ignoreDefaultArgs: ['--disable-back-forward-cache'],
  })
}

/**
 * Has `goto` and `reload` wait until the page answers: its script is asked for after its first paint, which may be after
 * `load`. Not where the test asked for less than `load`.
 */
function waitForScripts(page: Page): void {
  const isReady = () => {
    const { dataset } = document.documentElement
    return !('scripts' in dataset) || 'hydrated' in dataset
  }
  const ready = async () => {
    const deadline = performance.now() + 15_000
    // Where the page leads elsewhere by itself, that one is waited for.
    while (!(await page.evaluate(isReady).catch(() => false))) {
      if (performance.now() > deadline) throw new Error(`The script of ${page.url()} does not start.`)
      await wait(20)
    }
  }
  const [goto, reload] = [page.goto.bind(page), page.reload.bind(page)]
  page.goto = async (url, options) => {
    const response = await goto(url, options)
    if (!options?.waitUntil || options.waitUntil === 'networkidle') await ready()
    return response
  }
  page.reload = async (options) => {
    const response = await reload(options)
    if (!options?.waitUntil) await ready()
    return response
  }
}

/** A visitor's browser; what goes wrong in its pages is collected in `errors`. */
export async function newVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; errors: string[] }> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(15_000)
  const errors: string[] = []
  context.on('page', waitForScripts)
  context.on('weberror', (error) => errors.push(String(error.error())))
  return { context, errors }
}

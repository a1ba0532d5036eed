import { findChromium } from '@robokids/local/chromium'
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'

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

/** A visitor's browser; what goes wrong in its pages is collected in `errors`. */
export async function newVisitor(
  browser: Browser,
  options: BrowserContextOptions = {},
): Promise<{ context: BrowserContext; errors: string[] }> {
  const context = await browser.newContext({ locale: 'en-US', ...options })
  context.setDefaultTimeout(15_000)
  const errors: string[] = []
  context.on('weberror', (error) => errors.push(String(error.error())))
  return { context, errors }
}

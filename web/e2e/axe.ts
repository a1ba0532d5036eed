import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const options: RunOptions = {
  resultTypes: ['violations'],
  // No rule that is on looks into style sheets, which would all be fetched and read once more.
  preload: { assets: ['media'] },
}

/** What axe finds wrong with what the page shows now and, where it is to look `inDark` too, with its colours there. */
export async function findings(page: Page, { inDark = false } = {}): Promise<string[]> {
  // Another world than the page's: its security policy does not have to let axe in.
  const client = await page.context().newCDPSession(page)
  const { frameTree } = await client.send('Page.getFrameTree')
  const { executionContextId } = await client.send('Page.createIsolatedWorld', { frameId: frameTree.frame.id })
  const run = async (expression: string) => {
    const { result, exceptionDetails } = await client.send('Runtime.evaluate', {
      expression,
      contextId: executionContextId,
      awaitPromise: true,
      returnByValue: true,
    })
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description ?? exceptionDetails.text)
    return result.value as unknown
  }
  const look = async (also: RunOptions = {}) => {
    // Colours that are still turning into others are nobody's; those that are inherited begin to turn when others have.
    await page.evaluate(async () => {
      do {
        await Promise.allSettled(document.getAnimations().map(({ finished }) => finished))
        await new Promise(requestAnimationFrame)
      } while (document.getAnimations().length > 0)
    })
    const violations = (await run(
      `axe.run(document, ${JSON.stringify({ ...options, ...also })}).then(({ violations }) => violations)`,
    )) as AxeResults['violations']
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
  }
  await run(axe)
  const found = await look()
  if (inDark) {
    await page.emulateMedia({ colorScheme: 'dark' })
    const inColours = await look({ runOnly: ['color-contrast', 'link-in-text-block'] })
    found.push(...inColours.map((finding) => `dark ${finding}`))
    await page.emulateMedia({ colorScheme: 'light' })
  }
  await client.detach()
  return found
}

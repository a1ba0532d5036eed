import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const options: RunOptions = {
  resultTypes: ['violations'],
  // No enabled rule reads style sheets, which axe would fetch and parse once more.
  preload: { assets: ['media'] },
}

/** The axe violations of the page's current state; with `inDark`, also those of its colors in dark mode. */
export async function findings(page: Page, { inDark = false } = {}): Promise<string[]> {
  // An isolated world, so that the page's security policy does not block axe.
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
    // Colors in a transition are not final, and inherited ones start theirs when that of the parent has ended.
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

import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import type { AxeResults, RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

/** The axe violations of the page's current state; only `colours` for a page that was checked in other colors. */
export async function findings(page: Page, what: 'all' | 'colours' = 'all'): Promise<string[]> {
  // Colors in a transition are not final.
  await page.evaluate(() => Promise.allSettled(document.getAnimations().map(({ finished }) => finished)))
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
  const options: RunOptions = {
    resultTypes: ['violations'],
    ...(what === 'colours' ? { runOnly: ['color-contrast', 'link-in-text-block'] } : {}),
  }
  await run(axe)
  const violations = (await run(
    `axe.run(document, ${JSON.stringify(options)}).then(({ violations }) => violations)`,
  )) as AxeResults['violations']
  await client.detach()
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`)
}

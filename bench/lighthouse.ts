/**
 * How good the pages are on a phone, as Lighthouse sees it: `node lighthouse.ts`, in this folder. The built site, served by
 * the BFF with every service behind it. Medians of five rounds over all pages, which go forwards and backwards in turn after
 * one that warms up: a slow minute of the machine is a run of each page, and not all of one page's.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { findChromium } from '@robokids/local/chromium'
import { freePort } from '@robokids/local/processes'
import { root } from '@robokids/local/settings'
import { buildWeb } from '@robokids/local/web-build'
import lighthouse from 'lighthouse'
import { chromium } from 'playwright-core'
import { alternate, median } from './measure.ts'
import { startMeasuredSystem } from './measured-system.ts'

const { values, positionals } = parseArgs({
  options: { quick: { type: 'boolean', default: false } },
  allowPositionals: true,
})
const pages =
  positionals.length > 0
    ? positionals
    : ['/', '/robokidslanding', '/robokidspage1', '/guides/light-switch', '/terms', '/shop']
const rounds = values.quick ? 1 : 5
const categories = ['performance', 'accessibility', 'best-practices', 'seo'] as const

interface Measured {
  scores: number[]
  firstPaintMs: number
  largestPaintMs: number
  layoutShift: number
  blockedMs: number
  /** What a run did not give full points for. */
  faults: Set<string>
}

type Throttling = 'simulate' | 'devtools'

async function measureOnce(url: string, port: number, throttlingMethod: Throttling): Promise<Measured> {
  const result = await lighthouse(url, { port, logLevel: 'error', onlyCategories: [...categories], throttlingMethod })
  if (!result || result.lhr.runtimeError) throw new Error(`${url}: ${result?.lhr.runtimeError?.message ?? 'no result'}`)
  const { audits, categories: found } = result.lhr
  const value = (audit: string) => audits[audit]?.numericValue ?? Number.NaN
  return {
    scores: categories.map((name) => Math.round((found[name]?.score ?? 0) * 100)),
    firstPaintMs: value('first-contentful-paint'),
    largestPaintMs: value('largest-contentful-paint'),
    layoutShift: value('cumulative-layout-shift'),
    blockedMs: value('total-blocking-time'),
    faults: new Set(
      categories
        .slice(1)
        .flatMap((name) => found[name]?.auditRefs ?? [])
        .filter(({ id, weight }) => weight > 0 && audits[id]?.score !== null && (audits[id]?.score ?? 1) < 1)
        .map(({ id }) => id),
    ),
  }
}

/** The medians of each address, in their order. */
async function measure(urls: string[], port: number, throttling: Throttling = 'simulate'): Promise<Measured[]> {
  const phases = urls.map((url) => ({ name: url, run: () => measureOnce(url, port, throttling) }))
  const all = await alternate(phases, rounds)
  return [...all.values()].map(medians)
}

function medians(all: Measured[]): Measured {
  return {
    scores: categories.map((_, index) => median(all.map(({ scores }) => scores[index] ?? 0))),
    firstPaintMs: median(all.map(({ firstPaintMs }) => firstPaintMs)),
    largestPaintMs: median(all.map(({ largestPaintMs }) => largestPaintMs)),
    layoutShift: median(all.map(({ layoutShift }) => layoutShift)),
    blockedMs: median(all.map(({ blockedMs }) => blockedMs)),
    faults: new Set(all.flatMap(({ faults }) => [...faults])),
  }
}

/** The same site with nothing in its documents but what loads the script: each page is rendered by the browser. */
async function startClientRendered(siteUrl: string): Promise<{ url: string; stop: () => void }> {
  const server = createServer((request, response) => {
    const answer = async () => {
      const upstream = await fetch(siteUrl + (request.url ?? '/'), {
        headers: { accept: request.headers.accept ?? '*/*', 'x-api-key': 'robokids-web' },
      })
      const type = upstream.headers.get('content-type') ?? ''
      const policy = upstream.headers.get('content-security-policy') ?? ''
      const headers = {
        'content-type': type,
        'content-security-policy': policy,
        'cache-control': upstream.headers.get('cache-control') ?? '',
      }
      const body = Buffer.from(await upstream.arrayBuffer())
      response.writeHead(upstream.status, headers)
      response.end(
        type.startsWith('text/html')
          ? body.toString().replace(/<div id="root">.*?<\/div>(?=<script)/s, '<div id="root"></div>')
          : body,
      )
    }
    answer().catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  return { url: `http://localhost:${(server.address() as AddressInfo).port}`, stop: () => void server.close() }
}

const executablePath = await findChromium().catch(() => undefined)
if (!executablePath) {
  console.error(
    'There is no Chromium here, which Lighthouse drives. On Debian: apt-get install chromium; or set CHROMIUM_PATH.',
  )
  process.exit(1)
}
await buildWeb()
const measured = await startMeasuredSystem({ WEB_DIST: join(root, 'web/dist') })
const { system, versions } = measured
const port = await freePort()
const browser = await chromium.launch({ executablePath, args: ['--no-sandbox', `--remote-debugging-port=${port}`] })
const clientRendered = await startClientRendered(system.siteUrl)
try {
  console.log(`${versions}, Chromium ${browser.version()}; medians of ${rounds}\n`)
  console.log(
    '| page | performance | accessibility | best practices | SEO | first paint ms | largest paint ms | layout shift | blocked ms |',
  )
  console.log('| --- | --- | --- | --- | --- | --- | --- | --- | --- |')
  const found = await measure(
    pages.map((page) => system.siteUrl + page),
    port,
  )
  for (const [index, { scores, firstPaintMs, largestPaintMs, layoutShift, blockedMs, faults }] of found.entries()) {
    const figures = [
      ...scores,
      Math.round(firstPaintMs),
      Math.round(largestPaintMs),
      layoutShift.toFixed(3),
      Math.round(blockedMs),
    ]
    console.log(`| ${[pages[index], ...figures].join(' | ')} |`)
    if (faults.size > 0) console.log(`  not full: ${[...faults].join(', ')}`)
  }

  console.log('\n| first paint | prerendered ms | by the client ms | ratio |\n| --- | --- | --- | --- |')
  for (const page of pages.slice(0, values.quick ? 1 : 3)) {
    // On a line and a processor that are slowed down: an estimate takes no script for what a first paint waits for.
    const both = await measure([system.siteUrl + page, clientRendered.url + page], port, 'devtools')
    const [whole = Number.NaN, empty = Number.NaN] = both.map(({ firstPaintMs }) => firstPaintMs)
    console.log(`| ${page} | ${Math.round(whole)} | ${Math.round(empty)} | ${(whole / empty).toFixed(2)} |`)
  }
} finally {
  clientRendered.stop()
  await browser.close()
  await measured.stop()
}

import { execFile, execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { baseShape, databaseShape } from '@robokids/runtime/config'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { z } from 'zod'
import { metricsIn, metricsRead, prometheusFolder, readDashboards, readRules } from './prometheus.ts'
import { applications, owningServices } from './services.ts'
import { root } from './settings.ts'

const run = promisify(execFile)
const testFile = join(prometheusFolder, 'tests/alerts.yml')

function hasPromtool(): boolean {
  try {
    execFileSync('promtool', ['--version'], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

describe.skipIf(!hasPromtool())('Prometheus (without promtool these are skipped: apt-get install prometheus)', () => {
  it('accepts the configuration with all rules', async () => {
    const { stdout } = await run('promtool', ['check', 'config', join(prometheusFolder, 'prometheus.yml')])
    expect(stdout).toContain('2 rule files found')
  })

  it('fires each alert in the case that it is for, and not before', async () => {
    const { stdout } = await run('promtool', ['test', 'rules', testFile])
    expect(stdout).toContain('SUCCESS')
  })
})

const caseSchema = z.object({
  tests: z.array(
    z.object({
      name: z.string(),
      promql_expr_test: z.array(z.object({ expr: z.string(), exp_samples: z.array(z.unknown()) })),
    }),
  ),
})

describe('the alert rules', () => {
  it('each have a case in which they are quiet and then fire', async () => {
    const { tests } = caseSchema.parse(parse(await readFile(testFile, 'utf8')))
    const alerts = (await readRules()).flatMap(({ alert }) => alert ?? [])
    const outcomes = (alert: string) =>
      tests
        .filter(({ name }) => name === alert)
        .flatMap((one) => one.promql_expr_test)
        .filter(({ expr }) => expr.includes(`alertname="${alert}", alertstate="firing"`))
        .map(({ exp_samples: samples }) => samples.length)
    expect(alerts.length).toBeGreaterThan(20)
    expect(alerts.filter((alert) => outcomes(alert).join() !== '0,1')).toEqual([])
  })

  it('use every recording rule, which others or a dashboard read', async () => {
    const [rules, dashboards] = await Promise.all([readRules(), readDashboards()])
    const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
    const read = new Set([...rules, ...targets].flatMap(({ expr }) => metricsIn(expr)))
    expect(rules.flatMap(({ record }) => (record === undefined || read.has(record) ? [] : record))).toEqual([])
  })

  it('say who is to act, in one line, and where the runbook says how', async () => {
    for (const { alert, labels, annotations } of await readRules()) {
      if (alert === undefined) continue
      expect([alert, labels['severity']]).toEqual([alert, expect.stringMatching(/^(page|ticket)$/)])
      expect(annotations).toEqual({
        summary: expect.stringMatching(/^[A-Z].*\.$/),
        runbook_url: `docs/runbook.md#${alert.toLowerCase()}`,
      })
    }
  })
})

describe('the runbook', async () => {
  const text = await readFile(join(root, 'docs/runbook.md'), 'utf8')
  const pages = text.split(/^### /m).slice(1)
  const nameOf = (page: string) => page.split('\n')[0] ?? ''

  it('has a page for each alert, and for no other', async () => {
    const alerts = (await readRules()).flatMap(({ alert }) => alert ?? [])
    expect(pages.map(nameOf).toSorted()).toEqual(alerts.toSorted())
  })

  it('says on each page what the alert means, what a parent notices, how to look and what to do', () => {
    const parts = ['**It means**', '**A parent notices**', '**Look:**', '**Do:**']
    for (const page of pages)
      expect([nameOf(page), ...parts.filter((part) => !page.includes(part))]).toEqual([nameOf(page)])
  })

  it('names only commands of operators that exist', async () => {
    const { stdout: usage } = await run(process.execPath, [join(root, 'deploy/local/src/admin.ts')])
    const commands = new Set([...usage.matchAll(/^ {2}([a-z-]+)(?: |$)/gm)].map(([, name]) => name))
    const named = [...text.matchAll(/npm run admin -- ([a-z-]+)/g)].map(([, name]) => name)
    expect(named.length).toBeGreaterThan(10)
    expect(named.filter((name) => !commands.has(name))).toEqual([])
  })

  it('names only metrics and settings that exist', async () => {
    const quoted = [...text.matchAll(/`([^`\n]+)`/g)].map(([, code = '']) => code)
    const metrics = new Set(await metricsRead())
    const metric = /^[a-z]+(_[a-z0-9]+)+$/
    expect(quoted.filter((code) => metric.test(code) && !metrics.has(code))).toEqual([])
    const configs = await Promise.all(
      [...owningServices, 'bff' as const].map(async (name) => (await applications[name].load()).config),
    )
    const settings = new Set([baseShape, databaseShape, ...configs.map(({ shape }) => shape)].flatMap(Object.keys))
    const isSetting = (code: string) => /^[A-Z]+(_[A-Z0-9]+)+$/.test(code)
    expect(quoted.filter((code) => isSetting(code) && !settings.has(code))).toEqual([])
  })
})

describe('the dashboards', () => {
  it('have panels that query something, with ids of their own and without overlaps', async () => {
    const dashboards = await readDashboards()
    expect(dashboards.map(({ uid }) => uid).toSorted()).toEqual(['robokids-business', 'robokids-health'])
    for (const { panels } of dashboards) {
      expect(new Set(panels.map(({ id }) => id)).size).toBe(panels.length)
      const cells = panels.flatMap(({ gridPos: { x, y, w, h } }) =>
        Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)}:${y + Math.floor(cell / w)}`),
      )
      expect(new Set(cells).size).toBe(cells.length)
      const queries = panels.flatMap(({ targets }) => targets)
      expect(queries.length).toBeGreaterThan(10)
      expect(queries.filter(({ expr }) => metricsIn(expr).length === 0)).toEqual([])
    }
  })
})

describe('metricsIn', () => {
  it('finds the metrics of an expression, and neither functions nor labels', () => {
    const expression =
      'sum by (service) (rate(a_total{route=~"/x|y_z",le="5"}[5m])) / on (service) (b > 0) and max_over_time(c:d[1h]) unless absent(e)'
    expect(metricsIn(expression)).toEqual(['a_total', 'b', 'c:d', 'e'])
  })
})

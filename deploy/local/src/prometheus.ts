import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse } from 'yaml'
import { z } from 'zod'
import { root } from './settings.ts'

const ruleSchema = z.object({
  alert: z.string().optional(),
  record: z.string().optional(),
  expr: z.string(),
  annotations: z.record(z.string(), z.string()).default({}),
  labels: z.record(z.string(), z.string()).default({}),
})
const rulesSchema = z.object({ groups: z.array(z.object({ name: z.string(), rules: z.array(ruleSchema) })) })
const dashboardSchema = z.object({
  uid: z.string(),
  title: z.string(),
  panels: z.array(
    z.object({
      id: z.int(),
      title: z.string(),
      gridPos: z.object({ x: z.int(), y: z.int(), w: z.int(), h: z.int() }),
      targets: z.array(z.object({ expr: z.string() })).default([]),
    }),
  ),
})

/** The folder of Prometheus's files. */
export const prometheusFolder = join(root, 'deploy/prometheus')
const dashboardsFolder = join(root, 'deploy/grafana/dashboards')

/** Returns all alert and recording rules. */
export async function readRules(): Promise<z.infer<typeof ruleSchema>[]> {
  const names = await readdir(join(prometheusFolder, 'rules'))
  const files = await Promise.all(names.map((name) => readFile(join(prometheusFolder, 'rules', name), 'utf8')))
  return files.flatMap((file) => rulesSchema.parse(parse(file)).groups.flatMap(({ rules }) => rules))
}

/** Returns all of Grafana's dashboards. */
export async function readDashboards(): Promise<z.infer<typeof dashboardSchema>[]> {
  const names = await readdir(dashboardsFolder)
  const files = await Promise.all(names.map((name) => readFile(join(dashboardsFolder, name), 'utf8')))
  return files.map((file) => dashboardSchema.parse(JSON.parse(file)))
}

const words = new Set(['by', 'without', 'on', 'ignoring', 'and', 'or', 'unless', 'offset', 'bool'])

/** Returns the names of the metrics in a PromQL expression, sorted. */
export function metricsIn(expression: string): string[] {
  const bare = expression
    .replaceAll(/\{[^{}]*\}/g, '')
    .replaceAll(/\[[^\]]*\]/g, '')
    .replaceAll(/\b(by|without|on|ignoring)\s*\([^)]*\)/g, '')
  const names = [...bare.matchAll(/[a-zA-Z_:][\w:]*(?!\w*\s*\()/g)].map(([name]) => name)
  return [...new Set(names.filter((name) => !words.has(name)))].toSorted()
}

/** Returns the labels that the rules and dashboards match metrics by, as `metric label`, sorted; not those that a scrape adds. */
export async function labelsRead(): Promise<string[]> {
  const added = new Set(['service', 'instance', 'le'])
  const [rules, dashboards] = await Promise.all([readRules(), readDashboards()])
  const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
  const names = [...rules, ...targets].flatMap(({ expr }) =>
    [...expr.matchAll(/([\w:]+)\{([^{}]*)\}/g)].flatMap(([, metric = '', matchers = '']) =>
      [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)/g)].flatMap(([, label = '']) =>
        added.has(label) || metric === 'ALERTS' || metric.includes(':') ? [] : [`${metric} ${label}`],
      ),
    ),
  )
  return [...new Set(names)].toSorted()
}

/** Returns the names of all metrics that the rules and dashboards read from the processes: not those of other rules or of Prometheus. */
export async function metricsRead(): Promise<string[]> {
  const [rules, dashboards] = await Promise.all([readRules(), readDashboards()])
  const targets = dashboards.flatMap(({ panels }) => panels.flatMap((panel) => panel.targets))
  const names = [...rules, ...targets].flatMap(({ expr }) => metricsIn(expr))
  const recorded = new Set(['up', 'ALERTS', ...rules.map(({ record }) => record)])
  return [...new Set(names.filter((name) => !recorded.has(name)))].toSorted()
}

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parse, stringify } from 'yaml'

const folder = join(import.meta.dirname, '../../prometheus/rules')

/** Where the rules of deploy/prometheus are kept as objects of the Prometheus operator. */
export const rulesFile = join(import.meta.dirname, '../overlays/production/prometheus-rules.yaml')

/** Returns a PrometheusRule for each file of rules: kustomize cannot make one of them. */
export async function composeRules(): Promise<string> {
  const files = (await readdir(folder)).filter((name) => name.endsWith('.yml')).toSorted()
  const objects = await Promise.all(
    files.map(async (file) => ({
      apiVersion: 'monitoring.coreos.com/v1',
      kind: 'PrometheusRule',
      metadata: { name: file.replace('.yml', '') },
      spec: parse(await readFile(join(folder, file), 'utf8')) as unknown,
    })),
  )
  const note = '# Written by `npx node deploy/kubernetes/src/write-prometheus-rules.ts` from deploy/prometheus/rules.\n'
  return note + objects.map((object) => stringify(object, { lineWidth: 0, singleQuote: true })).join('---\n')
}

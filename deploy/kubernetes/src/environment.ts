import { baseShape, databaseShape, readConfig, type Settings } from '@robokids/runtime/config'
import { applications, owningServices, type ServiceName } from '@robokids/local/services'
import { containersOf, type Fields, type KubernetesObject, type Pods } from './objects.ts'
import type { Secret } from './secrets.ts'

/** The processes, each with the schema of its own settings. */
export const processNames: readonly ServiceName[] = [...owningServices, 'bff']
const schemas = Object.fromEntries(
  await Promise.all(processNames.map(async (name) => [name, (await applications[name].load()).config] as const)),
) as Record<ServiceName, Settings<object>>

/** What Node itself reads. */
const settingsOfNode = new Set(['NODE_EXTRA_CA_CERTS', 'NODE_OPTIONS'])

/** What a container's environment says, with every reference replaced by what it refers to. */
export interface Environment {
  /** As the container gets it. */
  variables: Record<string, string>
  /** With the content of each file that a variable names: `ADMIN_SECRET` for `ADMIN_SECRET_FILE`. */
  settings: Record<string, string>
  problems: string[]
}

const fileSuffix = '_FILE'

/** The settings of the operators' commands, which have no schema of their own. */
const settingsOfAdmin = new Set([
  'SYSTEM_NAME',
  'SITE_URL',
  'ADMIN_SECRET',
  'AWS_ACCESS_KEY_ID',
  'AWS_SECRET_ACCESS_KEY',
  ...owningServices.map((name) => `${name.toUpperCase()}_URL`),
])

/** The process that pods run, or prepare. */
export const processOf = ({ name }: Pods): ServiceName | undefined =>
  processNames.find((process) => name === process || name === `migrate-${process}`)

function knownSettings(pods: Pods): ReadonlySet<string> {
  const process = processOf(pods)
  if (process === undefined) return settingsOfAdmin
  const database = process === 'bff' ? {} : databaseShape
  return new Set([baseShape, database, schemas[process].shape].flatMap((shape) => Object.keys(shape)))
}

/** Returns the Secret's key that is mounted at a path of a container. */
function mountedSecret(pods: Pods, container: Fields, path: string): { secret: string; key: string } | undefined {
  for (const mount of (container['volumeMounts'] ?? []) as Fields[]) {
    if (!path.startsWith(`${mount['mountPath']}/`)) continue
    const rest = path.slice(mount['mountPath'].length + 1)
    const volume = ((pods.spec['volumes'] ?? []) as Fields[]).find(({ name }) => name === mount['name'])
    const sources = (volume?.['projected']?.sources ?? [volume]) as Fields[]
    for (const source of sources) {
      const item = ((source?.['secret']?.items ?? []) as Fields[]).find((one) => one['path'] === rest)
      if (item) return { secret: source['secret'].name ?? source['secret'].secretName, key: item['key'] }
    }
  }
  return undefined
}

/** Returns the environment of our container in pods. @param secrets those that there are */
export function environmentOf(
  pods: Pods,
  objects: readonly KubernetesObject[],
  secrets: readonly Secret[],
): Environment {
  const variables: Record<string, string> = {}
  const problems: string[] = []
  const dataOf = (name: string) =>
    objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name)?.['data'] as
      | Record<string, string>
      | undefined
  const [container = {}] = containersOf(pods)
  for (const { configMapRef } of (container['envFrom'] ?? []) as Fields[])
    Object.assign(variables, dataOf(configMapRef?.name))
  for (const { name, value, valueFrom } of (container['env'] ?? []) as Fields[]) {
    const { name: map, key } = valueFrom?.configMapKeyRef ?? {}
    const given = value ?? dataOf(map)?.[key]
    if (given === undefined) problems.push(`${name} is not in the ConfigMap ${map}`)
    else variables[name] = given
  }
  const known = knownSettings(pods)
  const settings: Record<string, string> = {}
  for (const [name, value] of Object.entries(variables)) {
    if (settingsOfNode.has(name)) continue
    const setting = known.has(name) || !name.endsWith(fileSuffix) ? name : name.slice(0, -fileSuffix.length)
    if (!known.has(setting)) problems.push(`${name} is not a setting of ${processOf(pods) ?? pods.name}`)
    if (setting === name) {
      settings[name] = value
      continue
    }
    if (setting in variables) problems.push(`${setting} is given twice, also as a file`)
    const mounted = mountedSecret(pods, container, value)
    const content = secrets.find(({ metadata }) => metadata.name === mounted?.secret)?.stringData[mounted?.key ?? '']
    if (content === undefined) problems.push(`${name} is ${value}, where no Secret is mounted`)
    else settings[setting] = content
  }
  return { variables, settings, problems }
}

/** Returns why a process would not start in production, with the example addresses replaced by real ones. */
export function configErrors(process: ServiceName, settings: Readonly<Record<string, string>>): string[] {
  const real = Object.entries(settings).map(([name, value]) => [
    name,
    value.replaceAll('school.example', 'robokids.org'),
  ])
  try {
    readConfig(schemas[process], Object.fromEntries(real), { database: process !== 'bff' })
    return []
  } catch (error) {
    return (error as Error).message.split('\n').slice(1)
  }
}

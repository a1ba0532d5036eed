import { execFile } from 'node:child_process'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { z } from 'zod'
import { makeCacheFolder, nameOf, type KubernetesObject } from './objects.ts'

const run = promisify(execFile)
const root = join(import.meta.dirname, '../../..')

/** Where the models of a group are: their types and, as code, their schemas. */
const packages: Record<string, string> = {
  'cert-manager.io': '@kubernetes-models/cert-manager',
  'keda.sh': '@kubernetes-models/keda',
  'monitoring.coreos.com': '@kubernetes-models/prometheus-operator',
}

const moduleOf = ({ apiVersion, kind }: KubernetesObject) =>
  `${packages[apiVersion.split('/')[0] ?? ''] ?? 'kubernetes-models'}/${apiVersion}/${kind}`

const name = z.strictObject({ name: z.string().min(1) })
const key = z.strictObject({ name: z.string().min(1), key: z.string().min(1) })
const size = z.string().regex(/^\d+(\.\d+)?(m|[KMGT]i?)?$/)
const resources = z.strictObject({
  requests: z.strictObject({ cpu: size, memory: size }),
  limits: z.strictObject({ cpu: size, memory: size }),
})
const metadata = z.object({ name: z.string(), namespace: z.literal('robokids') })
const plugin = z.strictObject({
  name: z.literal('barman-cloud.cloudnative-pg.io'),
  isWALArchiver: z.boolean().optional(),
  parameters: z.strictObject({ barmanObjectName: z.string(), serverName: z.string() }),
})

/**
 * No package has the schemas of CloudNativePG 1.30 and of its plugin for backups 0.14. These are of the fields used here, read from its
 * definitions: a new field has to be looked up there.
 */
const cloudNativePg: Record<string, z.ZodType> = {
  'postgresql.cnpg.io/v1/Cluster': z.strictObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata,
    spec: z.strictObject({
      instances: z.int().min(1),
      imageName: z.string(),
      enableSuperuserAccess: z.boolean(),
      certificates: z.strictObject({ serverCASecret: z.string(), serverTLSSecret: z.string() }),
      storage: z.strictObject({ size }),
      resources,
      bootstrap: z.union([
        z.strictObject({
          initdb: z.strictObject({ database: z.string(), owner: z.string(), dataChecksums: z.boolean() }),
        }),
        z.strictObject({
          recovery: z.strictObject({
            source: z.string(),
            recoveryTarget: z.strictObject({ targetTime: z.string() }).optional(),
          }),
        }),
      ]),
      externalClusters: z
        .array(z.strictObject({ name: z.string(), plugin: plugin.omit({ isWALArchiver: true }) }))
        .optional(),
      affinity: z
        .strictObject({ podAntiAffinityType: z.enum(['preferred', 'required']), topologyKey: z.string() })
        .optional(),
      postgresql: z.strictObject({
        parameters: z.record(z.string(), z.string()),
        pg_hba: z.array(z.string()),
        synchronous: z
          .strictObject({
            method: z.enum(['any', 'first']),
            number: z.int().min(1),
            dataDurability: z.enum(['required', 'preferred']),
          })
          .optional(),
      }),
      managed: z.strictObject({
        roles: z.array(z.strictObject({ name: z.string(), login: z.boolean(), passwordSecret: name })),
      }),
      plugins: z.array(plugin).optional(),
    }),
  }),
  'postgresql.cnpg.io/v1/Database': z.strictObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata,
    spec: z.strictObject({ cluster: name, name: z.string(), owner: z.string() }),
  }),
  'postgresql.cnpg.io/v1/ScheduledBackup': z.strictObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata,
    spec: z.strictObject({
      // Six fields: the first is seconds.
      schedule: z.string().regex(/^(\S+ ){5}\S+$/),
      immediate: z.boolean(),
      backupOwnerReference: z.enum(['none', 'self', 'cluster']),
      cluster: name,
      method: z.literal('plugin'),
      pluginConfiguration: z.strictObject({ name: plugin.shape.name }),
    }),
  }),
  'barmancloud.cnpg.io/v1/ObjectStore': z.strictObject({
    apiVersion: z.string(),
    kind: z.string(),
    metadata,
    spec: z.strictObject({
      retentionPolicy: z.string().regex(/^[1-9]\d*[dwm]$/),
      configuration: z.strictObject({
        destinationPath: z.string().min(1),
        endpointURL: z.url().optional(),
        s3Credentials: z.strictObject({ accessKeyId: key, secretAccessKey: key }),
        wal: z.strictObject({ compression: z.literal('gzip'), maxParallel: z.int().min(1) }),
        data: z.strictObject({ compression: z.literal('gzip') }),
      }),
      instanceSidecarConfiguration: z.strictObject({ resources }),
    }),
  }),
}

interface Model {
  validate(): void
}

/** Returns what in the objects is not as their schemas say. A field that the schema does not have is `findUnknownFields`'s. */
export async function findSchemaErrors(objects: readonly KubernetesObject[]): Promise<string[]> {
  const errors = await Promise.all(
    objects.map(async (object) => {
      const own = cloudNativePg[`${object.apiVersion}/${object.kind}`]
      if (own) {
        const { error } = own.safeParse(object)
        return error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`) ?? []
      }
      const models = (await import(/* @vite-ignore */ moduleOf(object))) as Record<
        string,
        new (data: KubernetesObject) => Model
      >
      const Kind = models[object.kind]
      if (!Kind) return ['has no schema']
      try {
        new Kind(object).validate()
        return []
      } catch (error) {
        return [(error as Error).message]
      }
    }),
  )
  return objects.flatMap((object, index) => (errors[index] ?? []).map((error) => `${nameOf(object)}: ${error}`))
}

/** Returns the fields that no schema knows, such as a misspelt one: the API server would drop or refuse it. */
export async function findUnknownFields(objects: readonly KubernetesObject[]): Promise<string[]> {
  const typed = objects.filter(({ apiVersion, kind }) => !cloudNativePg[`${apiVersion}/${kind}`])
  // The types of the models are checked by the compiler, which refuses an unknown field in a literal.
  const lines = typed.map((object, index) => {
    const type = `import('${moduleOf(object)}').I${object.kind}`
    return `export const object${index}: ${type} = ${JSON.stringify(object)}`
  })
  const folder = await makeCacheFolder()
  try {
    await writeFile(join(folder, 'objects.ts'), lines.join('\n'))
    const options = [
      '--ignoreConfig',
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--module',
      'nodenext',
      '--types',
      '',
      '--pretty',
      'false',
    ]
    const { stdout } = await run(join(root, 'node_modules/.bin/tsc'), [...options, join(folder, 'objects.ts')]).catch(
      (error: { stdout: string }) => error,
    )
    const reports = [...stdout.matchAll(/objects\.ts\((\d+),\d+\): error \w+: (.*)/g)]
    if (stdout !== '' && reports.length === 0) throw new Error(stdout)
    return reports.map(([, line, message]) => {
      const object = typed[Number(line) - 1]
      return `${object ? nameOf(object) : line}: ${message}`
    })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

import { streams } from '@robokids/contracts/events'
import { handlerName } from '@robokids/runtime/inbox'
import { applications, owningServices } from '@robokids/local/services'
import { allPods, findArrowErrors } from './arrows.ts'
import { configErrors, environmentOf, processNames, processOf } from './environment.ts'
import { containersOf, nameOf, podsOf, portNumber, selects, type Fields, type KubernetesObject } from './objects.ts'
import type { Secret } from './secrets.ts'

/** What an overlay is checked with. */
export interface Surroundings {
  /** The Secrets that its operator creates. */
  secrets: readonly Secret[]
  /** The pods of the ingress controller, `namespace/name`. */
  ingressController: string
}

/** Returns what is wrong, each as a sentence that begins with the object. */
type Rule = (objects: readonly KubernetesObject[], surroundings: Surroundings) => string[]

const consumers = await Promise.all(
  owningServices.map(async (name) =>
    ((await applications[name].load()).consumers ?? []).map(({ definition }) => ({
      stream: definition.stream,
      consumer: handlerName(name, definition),
    })),
  ),
).then((all) => all.flat())

const containers = (objects: readonly KubernetesObject[]) =>
  podsOf(objects).flatMap((pods) =>
    containersOf(pods).map((container) => ({
      pods,
      container,
      at: `${nameOf(pods.owner)}, container ${container['name']}`,
    })),
  )

const when = (isWrong: boolean, message: string) => (isWrong ? [message] : [])
const ofKind = (objects: readonly KubernetesObject[], ...kinds: string[]) =>
  objects.filter(({ kind }) => kinds.includes(kind))
/** The pods of our own image. */
const ownPods = (objects: readonly KubernetesObject[]) =>
  podsOf(objects).filter(({ spec }) => spec['containers'][0].name === 'app')

const units: Record<string, number> = { m: 1e-3, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }
/** A quantity such as 250m, 1 or 512Mi as a number. */
function quantity(text: string | number): number {
  const [, digits, unit = ''] = /^([\d.]+)([a-zA-Z]*)$/.exec(String(text)) ?? []
  return Number(digits) * (unit === '' ? 1 : (units[unit] ?? Number.NaN))
}

/** How long a process may take to stop: runtime/src/service.ts. */
const stopSeconds = 10
/** For how long the cluster's name server and its clients remember the addresses of a name, as it is installed by default. */
const nameSeconds = 30

/** The pods that a scaler keeps, and how many at most. */
function scalersOf(objects: readonly KubernetesObject[]) {
  return ofKind(objects, 'HorizontalPodAutoscaler', 'ScaledObject').map((scaler) => {
    const spec = scaler['spec'] as Fields
    return {
      scaler,
      target: spec['scaleTargetRef'].name as string,
      min: (spec['minReplicas'] ?? spec['minReplicaCount'] ?? 1) as number,
      max: (spec['maxReplicas'] ?? spec['maxReplicaCount']) as number,
    }
  })
}

const databaseUrl = (secrets: readonly Secret[], name: string) =>
  URL.parse(secrets.find(({ metadata }) => metadata.name === `database-${name}`)?.stringData['url'] ?? '')

const volumesAllowed = ['configMap', 'secret', 'projected', 'emptyDir', 'persistentVolumeClaim']
/** Connections of a process besides its pool: its lock's, its listener's and one for the locks of jobs. */
const extraConnections = 3

export const rules = {
  'Each object is in the namespace.': (objects) =>
    objects.flatMap((one) =>
      when(
        one.kind !== 'Namespace' && one.metadata.namespace !== 'robokids',
        `${nameOf(one)}: is in another namespace`,
      ),
    ),

  'Each image has a version.': (objects) =>
    [
      ...containers(objects).map(({ at, container }) => ({ at, image: container['image'] as string | undefined })),
      ...ofKind(objects, 'Cluster').map((one) => ({
        at: nameOf(one),
        image: one['spec'].imageName as string | undefined,
      })),
    ].flatMap(({ at, image = '' }) =>
      when(!/@sha256:[0-9a-f]{64}$|:(?!latest$)[\w.-]*\d[\w.-]*$/.test(image), `${at}: ${image} has no version`),
    ),

  'Each container has requests and limits of processor and memory.': (objects) =>
    [
      ...containers(objects).map(({ at, container }) => ({ at, resources: container['resources'] as Fields })),
      ...ofKind(objects, 'Cluster').map((one) => ({ at: nameOf(one), resources: one['spec'].resources as Fields })),
    ].flatMap(({ at, resources }) =>
      ['cpu', 'memory'].flatMap((kind) => {
        const [request, limit] = [resources?.['requests']?.[kind], resources?.['limits']?.[kind]]
        if (request === undefined || limit === undefined) return [`${at}: has no request or no limit of ${kind}`]
        return when(!(quantity(request) <= quantity(limit)), `${at}: requests more ${kind} than its limit`)
      }),
    ),

  'Each pod is restricted.': (objects) => [
    ...ofKind(objects, 'Namespace').flatMap((one) =>
      when(
        one.metadata.labels?.['pod-security.kubernetes.io/enforce'] !== 'restricted',
        `${nameOf(one)}: does not enforce restricted pods`,
      ),
    ),
    ...podsOf(objects).flatMap(({ owner, spec }) => [
      ...when(spec['securityContext']?.runAsNonRoot !== true, `${nameOf(owner)}: may run as root`),
      ...when(!(spec['securityContext']?.runAsUser > 0), `${nameOf(owner)}: names no user other than root`),
      ...when(
        spec['securityContext']?.seccompProfile?.type !== 'RuntimeDefault',
        `${nameOf(owner)}: has no seccomp profile`,
      ),
      ...when(spec['automountServiceAccountToken'] !== false, `${nameOf(owner)}: has a token of the Kubernetes API`),
      ...when(
        ['hostNetwork', 'hostPID', 'hostIPC'].some((shared) => spec[shared]),
        `${nameOf(owner)}: shares something with its node`,
      ),
      ...((spec['volumes'] ?? []) as Fields[]).flatMap((volume) =>
        when(
          !volumesAllowed.some((kind) => kind in volume),
          `${nameOf(owner)}: the volume ${volume['name']} is of a kind that is not allowed`,
        ),
      ),
    ]),
    ...containers(objects).flatMap(({ at, container }) => {
      const context = (container['securityContext'] ?? {}) as Fields
      return [
        ...when(context['allowPrivilegeEscalation'] !== false, `${at}: may gain privileges`),
        ...when(context['privileged'] === true || context['runAsUser'] === 0, `${at}: is privileged`),
        ...when(
          context['capabilities']?.drop?.[0] !== 'ALL' || 'add' in context['capabilities'],
          `${at}: has capabilities`,
        ),
      ]
    }),
  ],

  'Each root file system is read-only.': (objects) =>
    containers(objects).flatMap(({ at, container }) =>
      when(container['securityContext']?.readOnlyRootFilesystem !== true, `${at}: may write to its image`),
    ),

  'Each container that serves is asked whether it has started, lives and is ready.': (objects) =>
    ofKind(objects, 'Service').flatMap((service) =>
      podsOf(objects)
        .filter(({ labels }) => selects({ matchLabels: service['spec'].selector }, labels))
        .flatMap((pods) => {
          const [container = {}] = containersOf(pods)
          const probes = ['startupProbe', 'livenessProbe', 'readinessProbe']
          const own = processOf(pods) && {
            startupProbe: '/healthz',
            livenessProbe: '/healthz',
            readinessProbe: '/readyz',
          }
          return probes.flatMap((probe) => {
            const { path, port } = container[probe]?.httpGet ?? {}
            if (path === undefined) return [`${nameOf(pods.owner)}: has no ${probe}`]
            const wanted = own?.[probe as keyof typeof own] ?? path
            return [
              ...when(path !== wanted, `${nameOf(pods.owner)}: its ${probe} asks ${path}, not ${wanted}`),
              ...when(
                portNumber(pods, port) === undefined,
                `${nameOf(pods.owner)}: its ${probe} asks a port that is not there`,
              ),
            ]
          })
        }),
    ),

  'Each process has the time that it needs to stop.': (objects, { secrets }) =>
    podsOf(objects)
      .filter((pods) => processOf(pods) && pods.owner.kind === 'Deployment')
      .flatMap((pods) => {
        const drainSeconds = Number(environmentOf(pods, objects, secrets).settings['DRAIN_MS'] ?? 0) / 1000
        const seconds = (pods.spec['terminationGracePeriodSeconds'] ?? 30) as number
        return [
          ...when(
            drainSeconds <= nameSeconds,
            `${nameOf(pods.owner)}: stops after ${drainSeconds} s, while others still know its address`,
          ),
          ...when(
            seconds < drainSeconds + stopSeconds,
            `${nameOf(pods.owner)}: is killed after ${seconds} s, and may need ${drainSeconds} and ${stopSeconds}`,
          ),
        ]
      }),

  'Each setting is known, and each process would start with its settings.': (objects, { secrets }) =>
    ownPods(objects).flatMap((pods) => {
      const { settings, problems } = environmentOf(pods, objects, secrets)
      const process = processOf(pods)
      const errors = process ? configErrors(process, settings) : []
      return [
        ...[...problems, ...errors].map((problem) => `${nameOf(pods.owner)}: ${problem.trim()}`),
        ...when(
          pods.spec['enableServiceLinks'] !== false,
          `${nameOf(pods.owner)}: Kubernetes would set IDENTITY_PORT and others (enableServiceLinks)`,
        ),
      ]
    }),

  'Each process has a migration with its own image and settings.': (objects, { secrets }) => {
    const all = ownPods(objects)
    return processNames.flatMap((name) => {
      const [process, migration] = [name, `migrate-${name}`].map((one) => all.find((pods) => pods.name === one))
      if (!process || !migration) return [`${name}: there is no Deployment/${name} or no Job/migrate-${name}`]
      const [wanted, own] = [process, migration].map((pods) => environmentOf(pods, objects, secrets).settings)
      const differing = Object.keys({ ...wanted, ...own })
        // The broker lets its operator alone change streams.
        .filter((setting) => !['NATS_USER', 'NATS_PASSWORD'].includes(setting) && wanted?.[setting] !== own?.[setting])
      const [main = {}, job = {}] = [process, migration].map(({ spec }) => spec['containers'][0] as Fields)
      const command = job['command'].join(' ')
      return [
        ...differing.map((setting) => `Job/migrate-${name}: has another ${setting} than its process`),
        ...when(job['image'] !== main['image'], `Job/migrate-${name}: has another image than its process`),
        ...when(command !== `${main['command'].join(' ')} migrate`, `Job/migrate-${name}: runs ${command}`),
        ...when(own?.['NATS_USER'] !== 'operator', `Job/migrate-${name}: is not the operator of the broker`),
        ...when(wanted?.['NATS_USER'] !== name, `Deployment/${name}: is another user of the broker`),
        ...when(wanted?.['MIGRATE_ON_START'] !== 'false', `Deployment/${name}: migrates by itself`),
      ]
    })
  },

  'Each ConfigMap, Secret, claim and Issuer that is referred to is there or is created by its operator.': (
    objects,
    { secrets },
  ) => {
    const created: Record<string, string[]> = {
      ConfigMap: [],
      PersistentVolumeClaim: [],
      Issuer: [],
      ObjectStore: [],
      // The others are made by cert-manager.
      Secret: [
        ...secrets.map(({ metadata }) => metadata.name),
        ...ofKind(objects, 'Certificate').map((one) => one['spec'].secretName as string),
        ...ofKind(objects, 'Ingress')
          .filter(({ metadata }) => metadata.annotations?.['cert-manager.io/issuer'])
          .flatMap((one) => (one['spec'].tls as Fields[]).map(({ secretName }) => secretName as string)),
      ],
    }
    for (const { kind, metadata } of objects) created[kind]?.push(metadata.name)
    const used = new Set<string>()
    const problems: string[] = []
    const refer = (from: string, kind: string, name: string, key?: string) => {
      if (!created[kind]?.includes(name)) problems.push(`${from}: there is no ${kind} ${name}`)
      const secret = secrets.find(({ metadata }) => metadata.name === name)
      if (kind !== 'Secret' || !secret || key === undefined) return
      used.add(`${name}/${key}`)
      if (!(key in secret.stringData)) problems.push(`${from}: the Secret ${name} has no ${key}`)
    }
    for (const { at, container } of containers(objects)) {
      for (const { configMapRef, secretRef } of (container['envFrom'] ?? []) as Fields[])
        refer(at, configMapRef ? 'ConfigMap' : 'Secret', (configMapRef ?? secretRef).name)
      for (const { valueFrom } of (container['env'] ?? []) as Fields[]) {
        const { configMapKeyRef, secretKeyRef } = valueFrom ?? {}
        if (configMapKeyRef) refer(at, 'ConfigMap', configMapKeyRef.name)
        if (secretKeyRef) refer(at, 'Secret', secretKeyRef.name, secretKeyRef.key)
      }
    }
    for (const { owner, spec } of podsOf(objects))
      for (const volume of (spec['volumes'] ?? []) as Fields[]) {
        if (volume['configMap']) refer(nameOf(owner), 'ConfigMap', volume['configMap'].name)
        if (volume['persistentVolumeClaim'])
          refer(nameOf(owner), 'PersistentVolumeClaim', volume['persistentVolumeClaim'].claimName)
        for (const { secret } of (volume['projected']?.sources ?? [volume]) as Fields[])
          for (const { key } of (secret?.items ?? (secret ? [{}] : [])) as Fields[])
            refer(nameOf(owner), 'Secret', secret.name ?? secret.secretName, key)
      }
    for (const one of ofKind(objects, 'Cluster')) {
      for (const { passwordSecret } of one['spec'].managed.roles)
        for (const key of ['username', 'password']) refer(nameOf(one), 'Secret', passwordSecret.name, key)
      const { serverCASecret, serverTLSSecret } = one['spec'].certificates
      for (const name of [serverCASecret, serverTLSSecret]) refer(nameOf(one), 'Secret', name)
      for (const { parameters } of one['spec'].plugins ?? [])
        refer(nameOf(one), 'ObjectStore', parameters.barmanObjectName)
    }
    for (const one of ofKind(objects, 'ObjectStore'))
      for (const { name, key } of Object.values(one['spec'].configuration.s3Credentials as Record<string, Fields>))
        refer(nameOf(one), 'Secret', name, key)
    for (const one of ofKind(objects, 'Ingress')) {
      refer(nameOf(one), 'Issuer', one.metadata.annotations?.['cert-manager.io/issuer'] ?? '(none)')
      for (const { secretName } of one['spec'].tls ?? []) refer(nameOf(one), 'Secret', secretName)
    }
    for (const one of ofKind(objects, 'Certificate')) refer(nameOf(one), 'Issuer', one['spec'].issuerRef.name)
    for (const one of ofKind(objects, 'Issuer'))
      if (one['spec'].ca) refer(nameOf(one), 'Secret', one['spec'].ca.secretName)
    const hasBackups = ofKind(objects, 'ObjectStore').length > 0
    const unused = secrets
      .filter(({ metadata }) => hasBackups || metadata.name !== 'backups')
      .flatMap(({ metadata, stringData }) => Object.keys(stringData).map((key) => `${metadata.name}/${key}`))
      .filter((one) => !used.has(one))
    return [...problems, ...unused.map((one) => `Secret/${one}: nothing uses it`)]
  },

  'Each selector selects pods.': (objects) => {
    const all = allPods(objects)
    return objects.flatMap((object) => {
      const spec = object['spec'] as Fields
      const at = nameOf(object)
      if (['Deployment', 'StatefulSet'].includes(object.kind))
        return when(!selects(spec['selector'], spec['template'].metadata.labels), `${at}: does not select its own pods`)
      if (object.kind === 'Service') {
        const pods = all.filter(({ labels }) => selects({ matchLabels: spec['selector'] }, labels))
        if (pods.length !== 1) return [`${at}: selects the pods of ${pods.length} objects`]
        return (spec['ports'] as Fields[]).flatMap(({ port, targetPort = port }) =>
          when(
            pods.some((one) => portNumber(one, targetPort) === undefined),
            `${at}: its pods have no port ${targetPort}`,
          ),
        )
      }
      if (object.kind === 'PodMonitor') {
        const pods = all.filter(({ labels }) => selects(spec['selector'], labels))
        const endpoints = spec['podMetricsEndpoints'] as Fields[]
        return [
          ...when(pods.length === 0, `${at}: selects no pods`),
          ...endpoints.flatMap(({ port }) =>
            when(
              pods.some((one) => portNumber(one, port) === undefined),
              `${at}: its pods have no port ${port}`,
            ),
          ),
        ]
      }
      if (object.kind === 'PodDisruptionBudget')
        return when(!all.some(({ labels }) => selects(spec['selector'], labels)), `${at}: selects no pods`)
      return []
    })
  },

  'Each scaler and each disruption budget has what it is about.': (objects) => {
    const deployments = new Map(ofKind(objects, 'Deployment').map((one) => [one.metadata.name, one]))
    const scalers = scalersOf(objects)
    const broker = objects.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'nats')
    return [
      ...scalers.flatMap(({ scaler, target, min, max }) => [
        ...when(!deployments.has(target), `${nameOf(scaler)}: there is no Deployment ${target}`),
        ...when(!(min <= max), `${nameOf(scaler)}: has a minimum above its maximum`),
        ...when(
          scalers.some((other) => other.scaler !== scaler && other.target === target),
          `${nameOf(scaler)}: another one scales ${target} as well`,
        ),
        ...when(
          deployments.get(target)?.['spec'].replicas !== undefined,
          `Deployment/${target}: would be scaled back by each roll-out`,
        ),
      ]),
      ...ofKind(objects, 'PodDisruptionBudget').flatMap((budget) =>
        podsOf(objects)
          .filter(({ labels }) => selects(budget['spec'].selector, labels))
          .flatMap(({ owner, name }) => {
            const copies = scalers.find(({ target }) => target === name)?.min ?? owner['spec'].replicas ?? 1
            return when(
              copies < 2,
              `${nameOf(budget)}: with one copy it would keep its node from being emptied or do nothing`,
            )
          }),
      ),
      ...ownPods(objects)
        .filter((pods) => scalers.length > 0 && processOf(pods) && pods.owner.kind === 'Deployment')
        .flatMap(({ owner, name, labels }) => [
          ...when(!scalers.some(({ target }) => target === name), `${nameOf(owner)}: nothing scales it`),
          ...when(
            !ofKind(objects, 'PodDisruptionBudget').some((budget) => selects(budget['spec'].selector, labels)),
            `${nameOf(owner)}: has no disruption budget`,
          ),
        ]),
      ...ofKind(objects, 'ScaledObject').flatMap((scaler) =>
        (scaler['spec'].triggers as Fields[])
          .filter(({ type }) => type === 'nats-jetstream')
          .flatMap(({ metadata: { stream, consumer } }) =>
            when(
              !consumers.some((one) => one.stream === stream && one.consumer === consumer) ||
                !consumer.startsWith(`${scaler['spec'].scaleTargetRef.name}__`),
              `${nameOf(scaler)}: there is no consumer ${consumer} of the stream ${stream} in ${scaler['spec'].scaleTargetRef.name}`,
            ),
          ),
      ),
      ...ofKind(objects, 'ConfigMap').flatMap((one) =>
        when(
          one['data']?.NATS_REPLICAS !== undefined && Number(one['data'].NATS_REPLICAS) !== broker?.['spec'].replicas,
          `${nameOf(one)}: NATS_REPLICAS is not the number of brokers`,
        ),
      ),
    ]
  },

  'Each copy of a process is spread over the nodes where there are several.': (objects) =>
    scalersOf(objects).flatMap(({ target }) => {
      const pods = podsOf(objects).find(({ name }) => name === target)
      const keys = ((pods?.spec['topologySpreadConstraints'] ?? []) as Fields[])
        // Kubernetes refuses matchLabelKeys without a selector.
        .filter(({ labelSelector }) => labelSelector && selects(labelSelector, pods?.labels ?? {}))
        .filter(({ matchLabelKeys = [] }) => matchLabelKeys.includes('app.kubernetes.io/name'))
        .map(({ topologyKey }) => topologyKey as string)
      return ['kubernetes.io/hostname', 'topology.kubernetes.io/zone'].flatMap((key) =>
        when(!keys.includes(key), `Deployment/${target}: is not spread by ${key}`),
      )
    }),

  'The site is served over TLS by the name of SITE_URL.': (objects) => {
    const school = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.startsWith('school-'))
    const site = URL.parse(school?.['data'].SITE_URL ?? '')?.hostname
    const ingresses = ofKind(objects, 'Ingress')
    return [
      ...when(ingresses.length === 0, 'Ingress: there is none'),
      ...ingresses.flatMap((one) =>
        (one['spec'].rules as Fields[]).flatMap(({ host }) => [
          ...when(host !== site, `${nameOf(one)}: serves ${host}, not ${site}`),
          ...when(
            !((one['spec'].tls ?? []) as Fields[]).some(({ hosts }) => hosts.includes(host)),
            `${nameOf(one)}: serves ${host} without TLS`,
          ),
        ]),
      ),
    ]
  },

  'Each service has a database and a role of its own, and the server has enough connections.': (
    objects,
    { secrets },
  ) => {
    const [cluster] = ofKind(objects, 'Cluster')
    if (!cluster) return ['Cluster: there is none']
    const { managed, postgresql } = cluster['spec'] as Fields
    const scalers = scalersOf(objects)
    const perService = owningServices.flatMap((name) => {
      const role = (managed['roles'] as Fields[]).find((one) => one['name'] === name)
      const url = databaseUrl(secrets, name)
      return [
        ...when(
          role?.['login'] !== true || role['passwordSecret'].name !== `database-${name}`,
          `${nameOf(cluster)}: has no role ${name} with the password of its Secret`,
        ),
        ...when(
          url?.username !== name || url.pathname !== `/${name}`,
          `Secret/database-${name}: is for another database`,
        ),
        ...when(url?.searchParams.get('sslmode') !== 'verify-full', `Secret/database-${name}: trusts any server`),
        ...when(
          !ofKind(objects, 'Database').some(
            ({ spec }: Fields) =>
              spec.name === name && spec.owner === name && spec.cluster.name === cluster.metadata.name,
          ),
          `Database: ${name} has none`,
        ),
        ...when(
          !postgresql['pg_hba'].includes(`hostssl ${name} ${name} all scram-sha-256`),
          `${nameOf(cluster)}: does not let ${name} in`,
        ),
      ]
    })
    const certificate = ofKind(objects, 'Certificate').find(
      (one) => one['spec'].secretName === cluster['spec'].certificates.serverTLSSecret,
    )
    const hosts = new Set(owningServices.map((name) => databaseUrl(secrets, name)?.hostname))
    const entrances = (postgresql['pg_hba'] as string[]).filter((line) => !line.endsWith(' reject'))
    const needed = owningServices.reduce((sum, name) => {
      const pods = podsOf(objects).find((one) => one.name === name)
      const pool = Number((pods && environmentOf(pods, objects, secrets).settings['DATABASE_POOL']) ?? 10)
      // One more during a roll-out.
      return sum + ((scalers.find(({ target }) => target === name)?.max ?? 1) + 1) * (pool + extraConnections)
    }, 0)
    const there = Number(postgresql['parameters'].max_connections)
    return [
      ...perService,
      ...[...hosts].flatMap((host) =>
        when(
          !(certificate?.['spec'].dnsNames as string[] | undefined)?.includes(host ?? ''),
          `${nameOf(cluster)}: its certificate is not for ${host}`,
        ),
      ),
      ...when(entrances.length !== owningServices.length, `${nameOf(cluster)}: lets others in than the services`),
      ...when(
        postgresql['pg_hba'].at(-1) !== 'host all all all reject',
        `${nameOf(cluster)}: lets whom it does not name into every database`,
      ),
      // CloudNativePG's own work needs some as well.
      ...when(there < needed + 20, `${nameOf(cluster)}: has ${there} connections, and the services may need ${needed}`),
    ]
  },

  'Each arrow that the NetworkPolicies allow is needed, and each that is needed is allowed.': (
    objects,
    { secrets, ingressController },
  ) => findArrowErrors(objects, secrets, ingressController),

  'The broker has room for its streams.': (objects, { secrets }) => {
    const broker = objects.find(({ kind, metadata }) => kind === 'StatefulSet' && metadata.name === 'nats')
    const bff = podsOf(objects).find(({ name }) => name === 'bff')
    const megabytes = Number((bff && environmentOf(bff, objects, secrets).settings['NATS_STREAM_MEGABYTES']) ?? 4096)
    const storage = broker?.['spec'].volumeClaimTemplates[0].spec.resources.requests.storage as string
    const stored = streams().filter(({ secret }) => !secret).length
    return when(
      !(quantity(storage) >= stored * megabytes * 2 ** 20),
      `StatefulSet/nats: has ${storage} for ${stored} streams of ${megabytes} MB`,
    )
  },
} satisfies Record<string, Rule>

export type RuleName = keyof typeof rules

/** Returns what is wrong with the objects of an overlay by a rule. */
export const violations = (
  rule: RuleName,
  objects: readonly KubernetesObject[],
  surroundings: Surroundings,
): string[] => rules[rule](objects, surroundings)

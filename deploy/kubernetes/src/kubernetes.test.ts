import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { rules, violations, type RuleName, type Surroundings } from './check-objects.ts'
import {
  hasKubectl,
  howToGetKubectl,
  nameOf,
  render,
  renderWith,
  type Fields,
  type KubernetesObject,
} from './objects.ts'
import { composeRules, rulesFile } from './prometheus-rules.ts'
import { findSchemaErrors, findUnknownFields } from './schemas.ts'
import { createSecrets } from './secrets.ts'

const secrets = createSecrets({
  STRIPE_SECRET_KEY: 'sk_live_7Gh2kQ9zXw4Vb8Nm1Tp6Rs3L',
  STRIPE_WEBHOOK_SECRETS: 'whsec_9fK2mQ7xZ4vB8nT1pR6sL3wG',
  SMTP_URL: 'smtps://school:kX8vQ2mZ@smtp.school.example:465',
  BACKUP_ACCESS_KEY_ID: 'AKIA7QXW2ZB4',
  BACKUP_SECRET_ACCESS_KEY: 'p9Vx2Lq8Zs4Wm7Kd',
})
const overlays = {
  production: { secrets, ingressController: 'traefik/traefik' },
  'single-node': { secrets, ingressController: 'kube-system/traefik' },
} satisfies Record<string, Surroundings>
type Overlay = keyof typeof overlays
const names = Object.keys(overlays) as Overlay[]
const ruleNames = Object.keys(rules) as RuleName[]

const kubectl = await hasKubectl()
process.stderr.write(kubectl ? '' : `deploy/kubernetes/src/kubernetes.test.ts is skipped: it ${howToGetKubectl}\n`)

describe.skipIf(!kubectl)('The manifests for Kubernetes', () => {
  const rendered = {} as Record<Overlay, KubernetesObject[]>
  beforeAll(async () => {
    const all = await Promise.all(names.map((name) => render(`overlays/${name}`)))
    for (const [index, name] of names.entries()) rendered[name] = all[index] ?? []
  })

  /** The objects of the production overlay, of which a test may change any. */
  const copy = () => structuredClone(rendered.production)
  const find = (objects: KubernetesObject[], name: string): Fields => {
    const found = objects.find((object) => nameOf(object).startsWith(name))
    if (!found) throw new Error(`There is no ${name}`)
    return found
  }
  const container = (objects: KubernetesObject[], name: string): Fields =>
    find(objects, name)['spec'].template.spec.containers[0]

  it.each(names)('of the overlay %s are as their schemas say', async (name) => {
    expect(await findSchemaErrors(rendered[name])).toEqual([])
  })

  it('have no field that is in no schema', async () => {
    expect(await findUnknownFields(names.flatMap((name) => rendered[name]))).toEqual([])
  })

  it('run the versions of the broker and of the database that docker-compose.yml runs', async () => {
    const compose = await readFile(join(import.meta.dirname, '../../../docker-compose.yml'), 'utf8')
    const [, broker] = /NATS_IMAGE:-([\w.:-]+)\}/.exec(compose) ?? []
    const [, database] = /POSTGRES_IMAGE:-postgres:([\d.]+)/.exec(compose) ?? []
    for (const name of names) {
      expect(container(rendered[name], 'StatefulSet/nats')['image']).toBe(broker)
      expect(find(rendered[name], 'Cluster')['spec'].imageName).toContain(`:${database}-`)
    }
  })

  it('have the rules of Prometheus as they are in deploy/prometheus', async () => {
    const [kept, current] = await Promise.all([readFile(rulesFile, 'utf8'), composeRules()])
    const parsed = (text: string) => parseAllDocuments(text).map((document) => document.toJS() as unknown)
    // Otherwise: npx node deploy/kubernetes/src/write-prometheus-rules.ts
    expect(parsed(kept)).toEqual(parsed(current))
  })

  it.each([
    ['production', 'traces'],
    ['single-node', 'backups'],
  ] as const)('keep every rule where the overlay %s has components/%s as well', async (overlay, component) => {
    const objects = await renderWith(overlay, component)
    expect(objects.length).toBeGreaterThan(rendered[overlay].length)
    expect(ruleNames.flatMap((rule) => violations(rule, objects, overlays[overlay]))).toEqual([])
    expect(await findSchemaErrors(objects)).toEqual([])
  })

  it('begin the database with a backup where an overlay adds components/restore, and write to another archive than they read', async () => {
    const [restored, lost] = [await renderWith('production', 'restore'), rendered.production].map((objects) =>
      objects.filter(({ kind }) => kind === 'Cluster'),
    )
    expect(await findSchemaErrors(restored ?? [])).toEqual([])
    const [{ bootstrap, externalClusters, plugins }] = (restored ?? []).map(({ spec }: Fields) => spec) as [Fields]
    const [{ plugins: written }] = (lost ?? []).map(({ spec }: Fields) => spec) as [Fields]
    expect(externalClusters).toMatchObject([{ name: bootstrap.recovery.source }])
    expect(externalClusters[0].plugin.parameters).toEqual(written[0].parameters)
    expect(plugins).toHaveLength(1)
    expect(plugins[0].parameters.serverName).not.toBe(written[0].parameters.serverName)
  })

  it('with an object that violates its schema fail', async () => {
    const objects = copy()
    find(objects, 'Deployment/bff')['spec'].template.spec.containers[0].ports[0].containerPort = 'three thousand'
    find(objects, 'ScaledObject/billing')['spec'].maxReplicaCount = 'four'
    delete find(objects, 'HorizontalPodAutoscaler/bff')['spec'].maxReplicas
    find(objects, 'Cluster/postgres')['spec'].instance = 3
    const errors = await findSchemaErrors(objects)
    const kinds = errors.map((error) => error.split(':')[0])
    expect(new Set(kinds)).toEqual(
      new Set(['Deployment/bff', 'ScaledObject/billing', 'HorizontalPodAutoscaler/bff', 'Cluster/postgres']),
    )
  })

  it('with a misspelt field fail', async () => {
    const objects = copy()
    container(objects, 'Deployment/bff')['readynessProbe'] = container(objects, 'Deployment/bff')['readinessProbe']
    find(objects, 'PodMonitor/processes')['spec'].podMetricsEndpoints[0].intervall = '15s'
    const errors = await findUnknownFields([
      find(objects, 'Deployment/bff'),
      find(objects, 'PodMonitor/processes'),
    ] as KubernetesObject[])
    expect(errors).toEqual([
      expect.stringMatching(/^Deployment\/bff: .*readynessProbe/),
      expect.stringMatching(/^PodMonitor\/processes: .*intervall/),
    ])
  })

  describe.each(names)('of the overlay %s', (name) => {
    it.each(ruleNames)('keep the rule: %s', (rule) => {
      expect(violations(rule, rendered[name], overlays[name])).toEqual([])
    })
  })

  /** For each rule, changes that violate it, and what is then said. */
  const planted: Record<RuleName, [change: (objects: KubernetesObject[]) => void, said: string][]> = {
    'Each object is in the namespace.': [
      [
        (objects) => delete find(objects, 'PodMonitor/nats').metadata.namespace,
        'PodMonitor/nats: is in another namespace',
      ],
    ],
    'Each image has a version.': [
      [
        (objects) => (container(objects, 'Deployment/bff')['image'] = 'robokids-learning'),
        'Deployment/bff, container app: robokids-learning has no version',
      ],
      [
        (objects) => (container(objects, 'StatefulSet/nats')['image'] = 'nats:latest'),
        'StatefulSet/nats, container nats: nats:latest has no version',
      ],
      [
        (objects) => (find(objects, 'Cluster')['spec'].imageName = 'registry:5000/postgresql'),
        'Cluster/postgres: registry:5000/postgresql has no version',
      ],
    ],
    'Each container has requests and limits of processor and memory.': [
      [
        (objects) => delete container(objects, 'Deployment/bff')['resources'].limits.memory,
        'Deployment/bff, container app: has no request or no limit of memory',
      ],
      [
        (objects) => (container(objects, 'Job/migrate-bff')['resources'].requests.cpu = '3'),
        'Job/migrate-bff, container app: requests more cpu than its limit',
      ],
    ],
    'Each pod is restricted.': [
      [
        (objects) => delete find(objects, 'Namespace').metadata.labels['pod-security.kubernetes.io/enforce'],
        'Namespace/robokids: does not enforce restricted pods',
      ],
      [
        (objects) => delete find(objects, 'Deployment/bff')['spec'].template.spec.securityContext.runAsNonRoot,
        'Deployment/bff: may run as root',
      ],
      [
        (objects) => (find(objects, 'Deployment/bff')['spec'].template.spec.securityContext.runAsUser = 0),
        'Deployment/bff: names no user other than root',
      ],
      [
        (objects) => delete find(objects, 'StatefulSet/nats')['spec'].template.spec.securityContext.seccompProfile,
        'StatefulSet/nats: has no seccomp profile',
      ],
      [
        (objects) => delete find(objects, 'Deployment/bff')['spec'].template.spec.automountServiceAccountToken,
        'Deployment/bff: has a token of the Kubernetes API',
      ],
      [
        (objects) => (find(objects, 'Deployment/bff')['spec'].template.spec.hostNetwork = true),
        'Deployment/bff: shares something with its node',
      ],
      [
        (objects) =>
          find(objects, 'Deployment/bff')['spec'].template.spec.volumes.push({ name: 'node', hostPath: { path: '/' } }),
        'Deployment/bff: the volume node is of a kind that is not allowed',
      ],
      [
        (objects) => delete container(objects, 'Deployment/bff')['securityContext'].allowPrivilegeEscalation,
        'Deployment/bff, container app: may gain privileges',
      ],
      [
        (objects) => (container(objects, 'Deployment/bff')['securityContext'].privileged = true),
        'Deployment/bff, container app: is privileged',
      ],
      [
        (objects) => (container(objects, 'Deployment/bff')['securityContext'].capabilities = { add: ['NET_ADMIN'] }),
        'Deployment/bff, container app: has capabilities',
      ],
    ],
    'Each root file system is read-only.': [
      [
        (objects) => (container(objects, 'Job/migrate-bff')['securityContext'].readOnlyRootFilesystem = false),
        'Job/migrate-bff, container app: may write to its image',
      ],
    ],
    'Each container that serves is asked whether it has started, lives and is ready.': [
      [
        (objects) => delete container(objects, 'Deployment/billing')['startupProbe'],
        'Deployment/billing: has no startupProbe',
      ],
      [
        (objects) => (container(objects, 'Deployment/billing')['livenessProbe'].httpGet.path = '/readyz'),
        'Deployment/billing: its livenessProbe asks /readyz, not /healthz',
      ],
      [
        (objects) => (container(objects, 'Deployment/billing')['readinessProbe'].httpGet.port = 'web'),
        'Deployment/billing: its readinessProbe asks a port that is not there',
      ],
    ],
    'Each process has the time that it needs to stop.': [
      [
        (objects) => (find(objects, 'ConfigMap/process-').data.DRAIN_MS = '5000'),
        'Deployment/billing: stops after 5 s, while others still know its address',
      ],
      [
        (objects) => (find(objects, 'Deployment/bff')['spec'].template.spec.terminationGracePeriodSeconds = 40),
        'Deployment/bff: is killed after 40 s, and may need 35 and 10',
      ],
    ],
    'Each setting is known, and each process would start with its settings.': [
      [
        (objects) => container(objects, 'Deployment/billing')['env'].push({ name: 'STRIPE_KEY', value: 'x' }),
        'Deployment/billing: STRIPE_KEY is not a setting of billing',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/bff-').data.RATE_LIMIT_READS = 'many'),
        'Deployment/bff: RATE_LIMIT_READS: is not a number',
      ],
      [
        (objects) => delete find(objects, 'ConfigMap/bff-').data.SESSION_KEYS_FILE,
        'Deployment/bff: SESSION_KEYS: is not set',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/bff-').data.SESSION_KEYS_FILE += 'S'),
        'Deployment/bff: SESSION_KEYS_FILE is /run/secrets/robokids/SESSION_KEYSS, where no Secret is mounted',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/bff-').data.PROOF_SECRET = 'a'.repeat(20)),
        'Deployment/bff: PROOF_SECRET is given twice, also as a file',
      ],
      [
        (objects) => delete find(objects, 'ConfigMap/school-').data.SITE_URL,
        `Deployment/bff: SITE_URL is not in the ConfigMap`,
      ],
      [
        (objects) => delete find(objects, 'Deployment/admin')['spec'].template.spec.enableServiceLinks,
        'Deployment/admin: Kubernetes would set IDENTITY_PORT and others (enableServiceLinks)',
      ],
    ],
    'Each process has a migration with its own image and settings.': [
      [
        (objects) => objects.splice(objects.indexOf(find(objects, 'Job/migrate-bff') as KubernetesObject), 1),
        'bff: there is no Deployment/bff or no Job/migrate-bff',
      ],
      [
        (objects) => (container(objects, 'Job/migrate-bff')['image'] = 'robokids-learning:0.0.9'),
        'Job/migrate-bff: has another image than its process',
      ],
      [
        (objects) => container(objects, 'Job/migrate-bff')['env'].push({ name: 'LOG_LEVEL', value: 'warn' }),
        'Job/migrate-bff: has another LOG_LEVEL than its process',
      ],
      [
        (objects) => container(objects, 'Job/migrate-bff')['command'].pop(),
        'Job/migrate-bff: runs node bff/src/main.ts',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/billing-').data.NATS_USER = 'bff'),
        'Deployment/billing: is another user of the broker',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/process-').data.MIGRATE_ON_START = 'true'),
        'Deployment/billing: migrates by itself',
      ],
      [
        (objects) =>
          (container(objects, 'Job/migrate-bff')['env'].find((one: Fields) => one['name'] === 'NATS_USER').value =
            'bff'),
        'Job/migrate-bff: is not the operator of the broker',
      ],
    ],
    'Each ConfigMap, Secret, claim and Issuer that is referred to is there or is created by its operator.': [
      [
        (objects) => (container(objects, 'Deployment/bff')['envFrom'][0].configMapRef.name = 'proces'),
        'Deployment/bff, container app: there is no ConfigMap proces',
      ],
      [
        (objects) => (find(objects, 'Cluster')['spec'].managed.roles[0].passwordSecret.name = 'identity'),
        'Cluster/postgres: the Secret identity has no username',
      ],
      [
        (objects) =>
          (container(objects, 'StatefulSet/nats')['env'].find(
            (one: Fields) => one['name'] === 'BROKER_BFF',
          ).valueFrom.secretKeyRef.name = 'brokers'),
        'StatefulSet/nats, container nats: there is no Secret brokers',
      ],
      [
        (objects) =>
          (find(objects, 'Deployment/bff')['spec'].template.spec.volumes.find(
            (one: Fields) => one['name'] === 'web-assets',
          ).persistentVolumeClaim.claimName = 'assets'),
        'Deployment/bff: there is no PersistentVolumeClaim assets',
      ],
      [
        (objects) => (find(objects, 'Ingress').metadata.annotations['cert-manager.io/issuer'] = 'staging'),
        'Ingress/site: there is no Issuer staging',
      ],
      [
        (objects) => (find(objects, 'Cluster')['spec'].certificates.serverCASecret = 'postgres-ca'),
        'Cluster/postgres: there is no Secret postgres-ca',
      ],
      [
        (objects) => (find(objects, 'Certificate/postgres-server')['spec'].issuerRef.name = 'authority'),
        'Certificate/postgres-server: there is no Issuer authority',
      ],
      [
        (objects) => (find(objects, 'Cluster')['spec'].plugins[0].parameters.barmanObjectName = 'bucket'),
        'Cluster/postgres: there is no ObjectStore bucket',
      ],
      [
        (objects) => (find(objects, 'ObjectStore')['spec'].configuration.s3Credentials.accessKeyId.key = 'ID'),
        'Secret/backups/ACCESS_KEY_ID: nothing uses it',
      ],
    ],
    'Each selector selects pods.': [
      [
        (objects) => (find(objects, 'Deployment/bff')['spec'].selector.matchLabels['app.kubernetes.io/name'] = 'web'),
        'Deployment/bff: does not select its own pods',
      ],
      [
        (objects) => (find(objects, 'Service/bff')['spec'].selector['app.kubernetes.io/name'] = 'web'),
        'Service/bff: selects the pods of 0 objects',
      ],
      [
        (objects) => (find(objects, 'Service/bff')['spec'].ports[0].targetPort = 'web'),
        'Service/bff: its pods have no port web',
      ],
      [
        (objects) => (find(objects, 'PodMonitor/postgres')['spec'].podMetricsEndpoints[0].port = 'http'),
        'PodMonitor/postgres: its pods have no port http',
      ],
      [
        (objects) => (find(objects, 'PodMonitor/nats')['spec'].selector.matchLabels = { app: 'nats' }),
        'PodMonitor/nats: selects no pods',
      ],
      [
        (objects) => (find(objects, 'PodDisruptionBudget/bff')['spec'].selector.matchLabels = { app: 'bff' }),
        'PodDisruptionBudget/bff: selects no pods',
      ],
    ],
    'Each scaler and each disruption budget has what it is about.': [
      [
        (objects) => (find(objects, 'HorizontalPodAutoscaler/bff')['spec'].scaleTargetRef.name = 'web'),
        'HorizontalPodAutoscaler/bff: there is no Deployment web',
      ],
      [
        (objects) => (find(objects, 'HorizontalPodAutoscaler/bff')['spec'].scaleTargetRef.name = 'billing'),
        'HorizontalPodAutoscaler/bff: another one scales billing as well',
      ],
      [
        (objects) => (find(objects, 'HorizontalPodAutoscaler/bff')['spec'].minReplicas = 20),
        'HorizontalPodAutoscaler/bff: has a minimum above its maximum',
      ],
      [
        (objects) => (find(objects, 'HorizontalPodAutoscaler/bff')['spec'].minReplicas = 1),
        'PodDisruptionBudget/bff: with one copy it would keep its node from being emptied or do nothing',
      ],
      [
        (objects) => (find(objects, 'Deployment/bff')['spec'].replicas = 2),
        'Deployment/bff: would be scaled back by each roll-out',
      ],
      [
        (objects) => objects.splice(objects.indexOf(find(objects, 'ScaledObject/billing') as KubernetesObject), 1),
        'Deployment/billing: nothing scales it',
      ],
      [
        (objects) =>
          objects.splice(objects.indexOf(find(objects, 'PodDisruptionBudget/billing') as KubernetesObject), 1),
        'Deployment/billing: has no disruption budget',
      ],
      [
        (objects) => (find(objects, 'ScaledObject/billing')['spec'].triggers[1].metadata.stream = 'identity'),
        'ScaledObject/billing: there is no consumer billing__registration-expired of the stream identity in billing',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/process-').data.NATS_REPLICAS = '1'),
        'NATS_REPLICAS is not the number of brokers',
      ],
    ],
    'Each copy of a process is spread over the nodes where there are several.': [
      [
        (objects) => find(objects, 'Deployment/bff')['spec'].template.spec.topologySpreadConstraints.shift(),
        'Deployment/bff: is not spread by kubernetes.io/hostname',
      ],
      [
        (objects) =>
          delete find(objects, 'Deployment/billing')['spec'].template.spec.topologySpreadConstraints[1].labelSelector,
        'Deployment/billing: is not spread by topology.kubernetes.io/zone',
      ],
    ],
    'The site is served over TLS by the name of SITE_URL.': [
      [
        (objects) => (find(objects, 'Ingress')['spec'].rules[0].host = 'www.school.example'),
        'Ingress/site: serves www.school.example, not school.example',
      ],
      [(objects) => delete find(objects, 'Ingress')['spec'].tls, 'Ingress/site: serves school.example without TLS'],
    ],
    'Each service has a database and a role of its own, and the server has enough connections.': [
      [
        (objects) => find(objects, 'Cluster')['spec'].managed.roles.pop(),
        'Cluster/postgres: has no role notifications with the password of its Secret',
      ],
      [(objects) => (find(objects, 'Database/billing')['spec'].owner = 'identity'), 'Database: billing has none'],
      [
        (objects) => find(objects, 'Cluster')['spec'].postgresql.pg_hba.shift(),
        'Cluster/postgres: does not let identity in',
      ],
      [
        (objects) =>
          find(objects, 'Cluster')['spec'].postgresql.pg_hba.unshift('host billing identity all scram-sha-256'),
        'Cluster/postgres: lets others in than the services',
      ],
      [
        (objects) => find(objects, 'Cluster')['spec'].postgresql.pg_hba.pop(),
        'Cluster/postgres: lets whom it does not name into every database',
      ],
      [
        (objects) => find(objects, 'Certificate/postgres-server')['spec'].dnsNames.shift(),
        'Cluster/postgres: its certificate is not for postgres-rw',
      ],
      [
        (objects) => (find(objects, 'ScaledObject/billing')['spec'].maxReplicaCount = 40),
        'Cluster/postgres: has 400 connections, and the services may need',
      ],
    ],
    'Each arrow that the NetworkPolicies allow is needed, and each that is needed is allowed.': [
      [
        (objects) => find(objects, 'NetworkPolicy/notifications')['spec'].egress.splice(2, 1),
        'notifications → enrollment:4002 is needed and not allowed at its start',
      ],
      [
        (objects) => find(objects, 'NetworkPolicy/enrollment')['spec'].ingress[0].from.splice(2, 1),
        'notifications → enrollment:4002 is needed and not allowed at its end',
      ],
      [
        (objects) =>
          find(objects, 'NetworkPolicy/identity')['spec'].egress.push({
            to: [{ podSelector: { matchLabels: { 'app.kubernetes.io/name': 'billing' } } }],
            ports: [{ port: 4003 }],
          }),
        'identity → billing:4003 is allowed and not needed',
      ],
      [
        (objects) =>
          find(objects, 'NetworkPolicy/identity')['spec'].ingress[0].from.push({
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'billing' } },
          }),
        'billing → identity:4001 is allowed and not needed',
      ],
      [
        (objects) =>
          find(objects, 'NetworkPolicy/identity')['spec'].ingress[0].from.push({
            podSelector: { matchLabels: { 'app.kubernetes.io/name': 'web' } },
          }),
        'NetworkPolicy/identity, ingress 0, {"podSelector":{"matchLabels":{"app.kubernetes.io/name":"web"}}}, port 4001: is about no pod',
      ],
      [
        (objects) => delete find(objects, 'NetworkPolicy/identity')['spec'].egress[0].to,
        'identity → */*:5432 is allowed and not needed',
      ],
      [
        (objects) => (find(objects, 'ConfigMap/billing-').data.ENROLLMENT_URL = 'http://enrolment:4002'),
        'billing calls enrolment:4002, which no Service has',
      ],
      [
        (objects) => find(objects, 'NetworkPolicy/billing')['spec'].egress.pop(),
        'billing → internet:443 is needed and not allowed at its start',
      ],
      [
        (objects) => objects.splice(objects.indexOf(find(objects, 'NetworkPolicy/names') as KubernetesObject), 1),
        'bff → kube-system/kube-dns:53/UDP is needed and not allowed at its start',
      ],
      [
        (objects) => (find(objects, 'NetworkPolicy/default-deny')['spec'].policyTypes = ['Egress']),
        'admin: no NetworkPolicy is about its ingress',
      ],
    ],
    'The broker has room for its streams.': [
      [
        (objects) =>
          (find(objects, 'StatefulSet/nats')['spec'].volumeClaimTemplates[0].spec.resources.requests.storage = '10Gi'),
        'StatefulSet/nats: has 10Gi for 4 streams of 4096 MB',
      ],
    ],
  }

  for (const rule of ruleNames) {
    for (const [change, said] of planted[rule]) {
      it(`that break the rule “${rule}” are told: ${said}`, () => {
        const objects = copy()
        change(objects)
        expect(violations(rule, objects, overlays.production).join('\n')).toContain(said)
      })
    }
  }
})

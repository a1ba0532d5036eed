import { environmentOf } from './environment.ts'
import { podsOf, portNumber, selects, type Fields, type KubernetesObject, type Labels, type Pods } from './objects.ts'
import type { Secret } from './secrets.ts'

/** `bff → identity:4001`. A peer outside of the namespace is `namespace/pod`, or the addresses. */
type Arrow = string
const arrow = (from: string, to: string, port: number | string): Arrow => `${from} → ${to}:${port}`

const internet = 'internet'
const anywhere = 'anywhere'

/** Pods that others make for us: CloudNativePG the servers of a Cluster, cert-manager the one that answers for a certificate. */
function foreignPods(objects: readonly KubernetesObject[]): Pods[] {
  const pods = (owner: KubernetesObject, name: string, labels: Labels, ports: Record<string, number>): Pods => {
    const containers = [{ ports: Object.entries(ports).map(([name, containerPort]) => ({ name, containerPort })) }]
    return { owner, name, labels, spec: { containers } }
  }
  return objects.flatMap((object) => {
    const { name } = object.metadata
    if (object.kind === 'Cluster')
      return [pods(object, name, { 'cnpg.io/cluster': name }, { postgresql: 5432, status: 8000, metrics: 9187 })]
    if (object.kind === 'Issuer' && object['spec'].acme)
      return [pods(object, 'certificate-challenge', { 'acme.cert-manager.io/http01-solver': 'true' }, { http: 8089 })]
    return []
  })
}

export const allPods = (objects: readonly KubernetesObject[]) => [...podsOf(objects), ...foreignPods(objects)]

/** Pods of a Service, by its host name, and the number of the port that a port of the Service is of them. */
function served(objects: readonly KubernetesObject[], host: string, port: number): [Pods, number][] {
  const name = host.split('.')[0] ?? ''
  // CloudNativePG makes this Service, for the server that accepts writes.
  const cluster = allPods(objects).find(({ owner }) => owner.kind === 'Cluster' && name === `${owner.metadata.name}-rw`)
  if (cluster) return [[cluster, port]]
  const service = objects.find(({ kind, metadata }) => kind === 'Service' && metadata.name === name)
  const target = ((service?.['spec'].ports ?? []) as Fields[]).find((one) => one['port'] === port)
  if (!service || !target) return []
  return podsOf(objects)
    .filter(({ labels }) => selects({ matchLabels: service['spec'].selector }, labels))
    .flatMap((pods): [Pods, number][] => {
      const number = portNumber(pods, target['targetPort'] ?? port)
      return number === undefined ? [] : [[pods, number]]
    })
}

const defaultPorts: Record<string, number> = { 'https:': 443, 'http:': 80, 'smtps:': 465, 'smtp:': 587, 'nats:': 4222 }

/** Settings whose URL is what a process is called, or sends to browsers, and not what it calls. */
const namesOnly = new Set(['ISSUER_URL', 'IDENTITY_ISSUER_URL', 'IDENTITY_PAGES_URL'])

/** Returns the arrows that something in the objects needs, and hosts that nothing serves. */
function neededArrows(
  objects: readonly KubernetesObject[],
  secrets: readonly Secret[],
  ingressController: string,
): { arrows: Set<Arrow>; unserved: string[] } {
  const arrows = new Set<Arrow>()
  const unserved: string[] = []
  const all = allPods(objects)
  const site = objects.find(({ kind }) => kind === 'Ingress')?.['spec'].rules[0].host as string
  const call = (from: string, host: string, port: number) => {
    if (host === site) return
    const targets = served(objects, host, port)
    for (const [pods, number] of targets) arrows.add(arrow(from, pods.name, number))
    if (targets.length > 0) return
    const [, other, namespace] = /^([\w-]+)\.([\w-]+)\.svc\b/.exec(host) ?? []
    if (namespace !== undefined && namespace !== 'robokids') {
      arrows.add(arrow(from, `${namespace}/${other}`, port))
      return
    }
    // A name without a dot is one of this namespace.
    if (host.includes('.') && !host.includes('.svc')) arrows.add(arrow(from, internet, port))
    else unserved.push(`${from} calls ${host}:${port}, which no Service has`)
  }

  for (const { name } of all) for (const port of ['53/UDP', 53]) arrows.add(arrow(name, 'kube-system/kube-dns', port))

  for (const pods of podsOf(objects).filter(({ spec }) => spec['containers'][0].name === 'app')) {
    const { settings } = environmentOf(pods, objects, secrets)
    const isMigration = pods.owner.kind === 'Job'
    for (const [setting, value] of Object.entries(settings)) {
      // A migration knows the other processes by its settings, and calls none.
      if (namesOnly.has(setting) || (isMigration && !['DATABASE_URL', 'NATS_URL'].includes(setting))) continue
      for (const item of value.split(',')) {
        const url = /^(https?|nats|postgres|smtps?):\/\//.test(item) ? URL.parse(item) : undefined
        if (url) call(pods.name, url.hostname, Number(url.port) || (defaultPorts[url.protocol] ?? 0))
      }
    }
    if (!isMigration && 'STRIPE_SECRET_KEY' in settings && !settings['STRIPE_API_URL'])
      arrows.add(arrow(pods.name, internet, 443))
  }

  for (const object of objects) {
    const spec = object['spec'] as Fields
    if (object.kind === 'Ingress')
      for (const { backend } of spec['rules'].flatMap(({ http }: Fields) => http.paths as Fields[])) {
        const service = objects.find(
          ({ kind, metadata }) => kind === 'Service' && metadata.name === backend.service.name,
        )
        const { number, name } = backend.service.port
        const port = number ?? service?.['spec'].ports.find((one: Fields) => one['name'] === name)?.port
        call(ingressController, backend.service.name, port)
      }
    if (object.kind === 'Issuer' && spec['acme']) arrows.add(arrow(ingressController, 'certificate-challenge', 8089))
    if (object.kind === 'PodMonitor')
      for (const pods of all.filter(({ labels }) => selects(spec['selector'], labels)))
        for (const endpoint of spec['podMetricsEndpoints']) {
          const port = portNumber(pods, endpoint.port)
          if (port !== undefined) arrows.add(arrow('monitoring/prometheus', pods.name, port))
        }
    if (object.kind === 'ScaledObject')
      for (const { type, metadata } of spec['triggers'].filter((one: Fields) => one['type'] === 'nats-jetstream')) {
        const [host = '', port] = metadata.natsServerMonitoringEndpoint.split(':')
        if (type) call('keda/keda-operator', host, Number(port))
      }
    if (object.kind === 'ConfigMap')
      // The servers of the broker's cluster.
      for (const [, host = '', port] of (object['data']?.['nats.conf'] ?? '').matchAll(
        /"nats:\/\/\w+-\d+\.([\w-]+):(\d+)"/g,
      ))
        call('nats', host, Number(port))
    if (object.kind === 'Cluster') {
      const { name } = object.metadata
      // See CloudNativePG's documentation of networking and of security.
      for (const port of [5432, 8000]) arrows.add(arrow('cnpg-system/cloudnative-pg', name, port))
      for (const port of [443, 6443]) arrows.add(arrow(name, anywhere, port))
      if (spec['instances'] > 1) for (const port of [5432, 8000]) arrows.add(arrow(name, name, port))
    }
  }
  return { arrows, unserved }
}

const namespaceLabel = 'kubernetes.io/metadata.name'

/** One side of arrows: what a rule of a policy lets in or out of the pods that it selects. */
interface Half {
  rule: string
  direction: 'Ingress' | 'Egress'
  arrows: Set<Arrow>
}

/** The peers that a rule names. Pods of other namespaces are called by their label. */
function peersOf(peer: Fields, all: readonly Pods[]): { name: string; pods?: Pods }[] {
  const { ipBlock, namespaceSelector, podSelector } = peer
  if (ipBlock) return [{ name: ipBlock.except ? internet : anywhere }]
  if (!namespaceSelector)
    return all.filter(({ labels }) => selects(podSelector, labels)).map((pods) => ({ name: pods.name, pods }))
  const { matchLabels = {} } = podSelector ?? {}
  const pod = matchLabels['app.kubernetes.io/name'] ?? matchLabels['k8s-app'] ?? matchLabels['app'] ?? '*'
  return [{ name: `${namespaceSelector.matchLabels?.[namespaceLabel] ?? '*'}/${pod}` }]
}

function halvesOf(policy: KubernetesObject, all: readonly Pods[]): Half[] {
  const spec = policy['spec'] as Fields
  const selected = all.filter(({ labels }) => selects(spec['podSelector'], labels))
  const halves = (direction: Half['direction'], rules: Fields[], side: 'from' | 'to') =>
    rules.flatMap((rule, nth) =>
      ((rule[side] ?? [{ namespaceSelector: {} }]) as Fields[]).flatMap((peer) =>
        ((rule['ports'] ?? [{ port: '*' }]) as Fields[]).map(({ port, protocol = 'TCP' }): Half => {
          const arrows = new Set<Arrow>()
          for (const own of selected)
            for (const other of peersOf(peer, all)) {
              const target = direction === 'Ingress' ? own : other.pods
              const number = target ? portNumber(target, port) : port
              if (number === undefined) continue
              const shown = protocol === 'TCP' ? number : `${number}/${protocol}`
              arrows.add(
                direction === 'Ingress' ? arrow(other.name, own.name, shown) : arrow(own.name, other.name, shown),
              )
            }
          const name = `NetworkPolicy/${policy.metadata.name}, ${direction.toLowerCase()} ${nth}`
          return { rule: `${name}, ${JSON.stringify(peer)}, port ${port}`, direction, arrows }
        }),
      ),
    )
  return [...halves('Ingress', spec['ingress'] ?? [], 'from'), ...halves('Egress', spec['egress'] ?? [], 'to')]
}

/** Returns what the policies of the objects let pass although nothing needs it, and what they stop although something does. */
export function findArrowErrors(
  objects: readonly KubernetesObject[],
  secrets: readonly Secret[],
  ingressController: string,
): string[] {
  const all = allPods(objects)
  const policies = objects.filter(({ kind }) => kind === 'NetworkPolicy')
  const { arrows: needed, unserved } = neededArrows(objects, secrets, ingressController)
  const halves = policies.flatMap((policy) => halvesOf(policy, all))
  const allowed = (direction: Half['direction']) =>
    new Set(halves.filter((half) => half.direction === direction).flatMap((half) => [...half.arrows]))
  const [entering, leaving] = [allowed('Ingress'), allowed('Egress')]
  const ours = new Set(all.map(({ name }) => name))

  const unguarded = all.flatMap(({ name, labels }) =>
    (['Ingress', 'Egress'] as const)
      .filter(
        (direction) =>
          !policies.some(
            ({ spec }: Fields) => spec.policyTypes.includes(direction) && selects(spec.podSelector, labels),
          ),
      )
      .map((direction) => `${name}: no NetworkPolicy is about its ${direction.toLowerCase()}`),
  )
  const stopped = [...needed].flatMap((one) => {
    const [from = '', to = ''] = one.split(' → ')
    const sides = [
      ...(ours.has(from) && !leaving.has(one) ? ['its start'] : []),
      ...(ours.has(to.replace(/:[^:]*$/, '')) && !entering.has(one) ? ['its end'] : []),
    ]
    return sides.map((side) => `${one} is needed and not allowed at ${side}`)
  })
  const unused = halves.flatMap(({ rule, arrows }) =>
    arrows.size === 0
      ? [`${rule}: is about no pod`]
      : [...arrows].filter((one) => !needed.has(one)).map((one) => `${one} is allowed and not needed: ${rule}`),
  )
  return [...unserved, ...unguarded, ...stopped, ...unused]
}

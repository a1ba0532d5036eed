import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { EventDefinition } from '@robokids/contracts/event'
import { allEvents } from '@robokids/contracts/events'
import { describeApi, type SchemaNames } from '@robokids/runtime/api-document'
import { stringify } from 'yaml'
import { z } from 'zod'
import { applications, owningServices, type ServiceName } from './services.ts'
import { readSettings, root, serviceEnvironment } from './settings.ts'

const contracts = join(root, 'contracts/src')

/**
 * Names each schema of the contracts as it is exported, without the suffix: `registrationSchema` is `Registration`. A query is
 * described parameter by parameter.
 */
async function nameSchemas(): Promise<SchemaNames> {
  const names = z.registry<{ id: string }>()
  const files = (await readdir(contracts)).filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
  for (const file of files.toSorted()) {
    const exported = (await import(pathToFileURL(join(contracts, file)).href)) as Record<string, unknown>
    for (const [name, schema] of Object.entries(exported)) {
      if (!/(?<!Query)Schema$/.test(name) || !(schema instanceof z.ZodType) || names.has(schema)) continue
      names.add(schema, { id: `${name.charAt(0).toUpperCase()}${name.slice(1, -'Schema'.length)}` })
    }
  }
  return names
}

const json = (document: unknown) => `${JSON.stringify(document, undefined, 2)}\n`

async function composeOpenApi(name: ServiceName, names: SchemaNames): Promise<string> {
  const environments = serviceEnvironment(readSettings({}), 'nats://localhost', () => 'postgres://localhost/any', {})
  // Without the files of the site, the BFF serves its API alone.
  const env = { ...environments[name], WEB_DIST: '' }
  return json(await describeApi(await applications[name].load(), env, names))
}

/** The services that consume each event, by its type. */
async function consumersByEvent(): Promise<Map<string, string[]>> {
  const consumers = new Map<string, string[]>()
  for (const name of owningServices) {
    const service = await applications[name].load()
    for (const { definition } of service.consumers ?? [])
      consumers.set(definition.type, [...new Set([...(consumers.get(definition.type) ?? []), name])])
  }
  return consumers
}

const reference = (path: string) => ({ $ref: `#/${path}` })
const schemaOf = (type: z.ZodType) => {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { target: 'draft-7' })
  return schema
}

/** What an envelope has whatever its type. */
function envelopeOf([event]: readonly EventDefinition[]): object {
  const { properties, required } = z.toJSONSchema(event?.schema as z.ZodType, { target: 'draft-7' })
  const { data: _, ...shared } = properties ?? {}
  return { type: 'object', required, properties: { ...shared, source: { type: 'string' }, type: { type: 'string' } } }
}

/** The AsyncAPI 3.0 document (https://www.asyncapi.com/docs/reference/specification/v3.0.0) of all events, with a sample of each. */
async function composeAsyncApi(): Promise<string> {
  const consumers = await consumersByEvent()
  const samples = new Map<string, unknown>()
  for (const { type } of allEvents)
    samples.set(type, JSON.parse(await readFile(join(contracts, `samples/${type}.json`), 'utf8')))
  const byType = (describe: (event: EventDefinition) => object) =>
    Object.fromEntries(allEvents.map((event) => [event.type, describe(event)]))
  const receivers = allEvents.flatMap((event) =>
    (consumers.get(event.type) ?? []).map((name) => [`${name} consumes ${event.type}`, 'receive', event] as const),
  )
  const senders = allEvents.map((event) => [`${event.producer} publishes ${event.type}`, 'send', event] as const)
  const document = {
    asyncapi: '3.0.0',
    info: { title: 'Events of Robo Kids Learning', version: '1' },
    defaultContentType: 'application/cloudevents+json',
    servers: { nats: { host: 'localhost:4222', protocol: 'nats', description: 'NATS JetStream' } },
    channels: byType(({ type, stream, secret }) => ({
      address: type,
      description: `In the stream ${stream}${secret ? ', in memory and for ten minutes' : ''}.`,
      messages: { [type]: reference(`components/messages/${type}`) },
    })),
    operations: Object.fromEntries(
      [...senders, ...receivers].map(([name, action, { type }]) => [
        name,
        { action, channel: reference(`channels/${type}`), messages: [reference(`channels/${type}/messages/${type}`)] },
      ]),
    ),
    components: {
      schemas: { CloudEvent: envelopeOf(allEvents) },
      messages: byType(({ type, producer, data }) => ({
        payload: {
          allOf: [
            reference('components/schemas/CloudEvent'),
            { properties: { source: { const: `/${producer}` }, type: { const: type }, data: schemaOf(data) } },
          ],
        },
        examples: [{ payload: samples.get(type) }],
      })),
    },
  }
  return stringify(document, { aliasDuplicateObjects: false, lineWidth: 0 })
}

/** Returns the text of each document, by its path. */
export async function composeDocuments(): Promise<Map<string, string>> {
  const names = await nameSchemas()
  const documents = new Map<string, string>()
  for (const name of Object.keys(applications) as ServiceName[])
    documents.set(join(root, `docs/api/${name}.openapi.json`), await composeOpenApi(name, names))
  return documents.set(join(root, 'docs/api/events.asyncapi.yaml'), await composeAsyncApi())
}

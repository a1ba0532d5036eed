import { STATUS_CODES } from 'node:http'
import swagger from '@fastify/swagger'
import { errorBodySchema } from '@robokids/contracts/errors'
import type { FastifySchema, RouteOptions } from 'fastify'
import { createJsonSchemaTransform, createJsonSchemaTransformObject } from 'fastify-type-provider-zod'
import type { z } from 'zod'
import { accessSchemeOf } from './access-check.ts'
import type { Bus } from './bus.ts'
import { Clock } from './clock.ts'
import { readConfig, type Environment } from './config.ts'
import type { Database } from './db.ts'
import { createHttp } from './http.ts'
import { addRoutes, type Service } from './service.ts'
import { createLogger, createMetrics } from './telemetry.ts'

/** An OpenAPI 3.1 document (https://spec.openapis.org/oas/v3.1.1.html). */
export interface ApiDocument {
  openapi: string
  info: { title: string; version: string }
  paths: Record<string, Record<string, { responses: Record<string, { description: string }> }>>
  components: { schemas: Record<string, unknown>; securitySchemes: Record<string, unknown> }
}

/** Names that schemas have in a document, so that it refers to them instead of repeating them. */
export type SchemaNames = z.core.$ZodRegistry<{ id: string }>

/** How `accessCheck` hooks are documented. */
const securitySchemes = {
  adminSecret: { type: 'apiKey', in: 'header', name: 'x-admin-secret' },
  session: {
    type: 'apiKey',
    in: 'cookie',
    name: '__Host-robokids-session',
    description: 'The cookie that a sign-in sets; without https, it has no prefix.',
  },
} as const

const hooksOf = (hooks: RouteOptions['onRequest']) => (Array.isArray(hooks) ? hooks : hooks ? [hooks] : [])

/** Stands for the database and the broker: routes can be added without either. */
function unavailable(what: string): object {
  return new Proxy(() => undefined, {
    get: (_, name) => (name === 'then' ? undefined : unavailable(`${what}.${String(name)}`)),
    apply: () => unavailable(`${what}()`),
  })
}

/**
 * Returns the OpenAPI document of a service's routes, made of the schemas that validate requests and serialize responses. Needs
 * no database and no broker.
 * @param env as in `startService`
 * @param names of schemas; those that the document does not use are left out
 * @throws ConfigError if a setting is wrong.
 */
export async function describeApi<Config>(
  service: Service<Config>,
  env: Environment,
  names: SchemaNames,
): Promise<ApiDocument> {
  const config = readConfig(service.config, env, { database: service.migrations !== undefined })
  const log = createLogger(service.name, 'silent')
  const metrics = createMetrics()
  const http = createHttp(config, log, metrics)
  const transform = createJsonSchemaTransform({ schemaRegistry: names })
  await http.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: service.name, version: '1' },
      components: { securitySchemes },
    },
    transform(document) {
      const { route } = document
      // A route without a schema has none here either, whatever its type says.
      const schema = document.schema as FastifySchema | undefined
      const access = hooksOf(route.onRequest).flatMap((hook) => accessSchemeOf(hook) ?? [])
      return transform({
        ...document,
        schema: {
          ...schema,
          hide: !route.url.startsWith('/'),
          ...(access.length > 0 ? { security: access.map((scheme) => ({ [scheme]: [] })) } : {}),
          response: { ...(schema?.response as object | undefined), default: errorBodySchema },
        },
      })
    },
    transformObject: createJsonSchemaTransformObject({ schemaRegistry: names }),
  })
  await http.register(async (scope) =>
    addRoutes(
      scope as unknown as typeof http,
      service,
      {
        name: service.name,
        config,
        db: unavailable('db') as Database,
        bus: unavailable('bus') as Bus,
        clock: new Clock(config.CLOCK_OFFSET),
        log,
        metrics,
      },
      { database: undefined, stopping: () => false },
    ),
  )
  await http.ready()
  const document = http.swagger() as unknown as ApiDocument
  await http.close()
  for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    // Files and streams have no schema.
    if (Object.keys(operation.responses).length === 1) operation.responses['200'] = { description: '' }
    for (const [status, response] of Object.entries(operation.responses))
      response.description = STATUS_CODES[status] ?? 'An error, by its code.'
  }
  return withUsedSchemas(document)
}

/** Keeps the named schemas that the paths refer to, also by way of others. */
function withUsedSchemas(document: ApiDocument): ApiDocument {
  const { schemas, ...components } = document.components
  const used: Record<string, unknown> = {}
  const pending: unknown[] = [document.paths]
  while (pending.length > 0) {
    for (const [, name = ''] of JSON.stringify(pending.pop()).matchAll(/"#\/components\/schemas\/([^"]+)"/g)) {
      if (name in used) continue
      used[name] = schemas[name]
      pending.push(schemas[name])
    }
  }
  const sorted = Object.fromEntries(Object.entries(used).toSorted(([one], [other]) => (one < other ? -1 : 1)))
  return { ...document, components: { ...components, schemas: sorted } }
}

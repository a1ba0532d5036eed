import { readFile } from 'node:fs/promises'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import swagger from '@fastify/swagger'
import swaggerUi from '@fastify/swagger-ui'
import Fastify from 'fastify'
import { parse } from 'yaml'
import { renderEvents, renderIndex, type EventDocument } from './render-api-pages.ts'
import { owningServices } from './services.ts'
import { root } from './settings.ts'

const documents = join(root, 'docs/api')

export interface ApiPages {
  /** `http://host:port`, an index of all documents. */
  url: string
  stop(): Promise<void>
}

/** Serves the documents of `docs/api` as pages: `/bff`, one for each service, and `/events`. */
export async function startApiPages({ port = 0, host = '127.0.0.1' } = {}): Promise<ApiPages> {
  const http = Fastify({ forceCloseConnections: true })
  const processes = ['bff', ...owningServices]
  for (const name of processes) {
    await http.register(async (scope) => {
      await scope.register(swagger, {
        mode: 'static',
        specification: { path: join(documents, `${name}.openapi.json`), baseDir: documents },
      })
      await scope.register(swaggerUi, {
        routePrefix: `/${name}`,
        theme: { title: `The API of ${name}` },
        // The pages have another origin than the processes, which allow none.
        uiConfig: { supportedSubmitMethods: [], docExpansion: 'list', defaultModelsExpandDepth: 0 },
      })
    })
  }
  const events = parse(await readFile(join(documents, 'events.asyncapi.yaml'), 'utf8')) as EventDocument
  http.get('/events', async (_request, reply) => reply.type('text/html; charset=utf-8').send(renderEvents(events)))
  http.get('/', async (_request, reply) => reply.type('text/html; charset=utf-8').send(renderIndex(processes)))
  await http.listen({ host, port })
  return { url: `http://${host}:${(http.server.address() as AddressInfo).port}`, stop: () => http.close() }
}

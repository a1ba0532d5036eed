import { readFile } from 'node:fs/promises'
import { Validator } from '@seriousme/openapi-schema-validator'
import { Ajv } from 'ajv'
import formats from 'ajv-formats'
import { beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { startApiPages } from './api-pages.ts'
import { composeDocuments } from './compose-api-documents.ts'

let composed: Map<string, string>
beforeAll(async () => {
  composed = await composeDocuments()
})

interface Events {
  channels: Record<string, { messages: Record<string, { $ref: string }> }>
  operations: Record<string, { action: string; channel: { $ref: string } }>
  components: { schemas: object; messages: Record<string, { payload: object; examples: { payload: object }[] }> }
}
const events = () => parse([...composed.values()].at(-1) ?? '') as Events

describe('the API documents', () => {
  it('are current in docs/api: `npm run api-documents` writes them', async () => {
    for (const [path, text] of composed) {
      const written = await readFile(path, 'utf8').catch(() => '')
      expect({ path, isCurrent: written === text }).toEqual({ path, isCurrent: true })
    }
  })

  it('of HTTP are valid OpenAPI, and each operation says what it answers', async () => {
    for (const [path, text] of composed) {
      if (!path.endsWith('.json')) continue
      const document = JSON.parse(text) as { paths: Record<string, Record<string, { responses: object }>> }
      expect({ path, ...(await new Validator().validate(document)) }).toMatchObject({ path, valid: true })
      for (const operation of Object.values(document.paths).flatMap((methods) => Object.values(methods)))
        expect(operation.responses).toHaveProperty('default')
    }
  })

  it('of events describe each sample, and who publishes and consumes it', () => {
    const { channels, operations, components } = events()
    for (const [type, { payload, examples }] of Object.entries(components.messages)) {
      const validate = formats.default(new Ajv({ strict: false })).compile({ ...payload, components })
      expect([type, validate(examples[0]?.payload), validate.errors]).toEqual([type, true, null])
      expect([type, validate({ ...examples[0]?.payload, data: 1 })]).toEqual([type, false])
    }
    expect(Object.keys(channels)).toEqual(Object.keys(components.messages))
    expect(operations['billing publishes payment.completed']).toMatchObject({ action: 'send' })
    expect(operations['enrollment consumes payment.completed']).toMatchObject({
      action: 'receive',
      channel: { $ref: '#/channels/payment.completed' },
    })
  })

  it('are pages under `npm start`, with an index', async () => {
    const pages = await startApiPages()
    try {
      const read = async (path: string) => (await fetch(pages.url + path)).text()
      const links = [...(await read('/')).matchAll(/href="([^"]+)"/g)].map(([, path]) => path)
      expect(links).toEqual(['/bff', '/identity', '/enrollment', '/billing', '/notifications', '/events'])
      expect(await read('/bff')).toContain('swagger-ui')
      expect(JSON.parse(await read('/billing/json'))).toMatchObject({ info: { title: 'billing' } })
      expect(await read('/events')).toMatch(
        /payment\.completed<\/h2>\s+<p>Published by billing, consumed by .*enrollment/,
      )
    } finally {
      await pages.stop()
    }
  })
})

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ServiceName } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

interface Operation {
  responses: Record<string, { content?: Record<string, { schema: object }> }>
}
interface Document {
  paths: Record<string, Record<string, Operation>>
  components: object
}

const documents = new Map<ServiceName, Document>()
const validators = new Map<string, ValidateFunction>()

function documentOf(process: ServiceName): Document {
  const read = () => JSON.parse(readFileSync(join(root, `docs/api/${process}.openapi.json`), 'utf8')) as Document
  return documents.getOrInsertComputed(process, read)
}

/** The documented path of a request, with parameters in braces. */
function templateOf({ paths }: Document, pathname: string): string | undefined {
  if (pathname in paths) return pathname
  return Object.keys(paths).find((path) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`).test(pathname))
}

/**
 * Holds a JSON response against the API document of its process.
 * @throws Error if the document says otherwise, or does not have the operation
 */
export function checkDocumented(
  process: ServiceName,
  method: string,
  path: string,
  status: number,
  body: unknown,
): void {
  const document = documentOf(process)
  const [pathname = ''] = path.split('?')
  const template = templateOf(document, pathname)
  const operation = template === undefined ? undefined : document.paths[template]?.[method.toLowerCase()]
  if (operation === undefined) {
    if (status < 300) throw new Error(`${method} ${pathname} is answered, but not documented for ${process}`)
    return
  }
  const answered = String(status) in operation.responses ? String(status) : 'default'
  const validate = validators.getOrInsertComputed(`${process} ${method} ${template} ${answered}`, () => {
    const schema = operation.responses[answered]?.content?.['application/json']?.schema ?? {}
    return formats.default(new Ajv2020({ strict: false })).compile({ ...schema, components: document.components })
  })
  if (validate(body)) return
  const [error] = validate.errors ?? []
  throw new Error(
    `${method} ${template} of ${process} is answered ${status}, not as documented: ${error?.instancePath} ${error?.message}`,
  )
}

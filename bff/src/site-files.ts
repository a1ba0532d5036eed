import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { extname, join, relative, resolve, sep } from 'node:path'
import { pathToFileURL } from 'node:url'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import {
  applicationMarkers,
  buildOrigin,
  dataScript,
  type PageData,
  pageDataId,
  type PagePath,
  pagePaths,
  type RenderApplication,
} from '@robokids/contracts/pages'
import type { FastifyReply, FastifyRequest } from 'fastify'

const types: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.ico': 'image/x-icon',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.txt': 'text/plain; charset=utf-8',
  '.webmanifest': 'application/manifest+json',
  '.woff2': 'font/woff2',
  '.xml': 'application/xml; charset=utf-8',
}

/** The content encodings, best first. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

/** A static file with its compressed variants. */
export class SiteFile {
  readonly type: string
  readonly cacheControl: string
  readonly etag: string
  /** Only for documents and pictures. */
  readonly contentSecurityPolicy: string | undefined
  readonly #content: Buffer
  readonly #variants: Partial<Record<Encoding, Buffer>>

  constructor(
    content: Buffer,
    options: {
      type: string
      cacheControl: string
      variants?: Partial<Record<Encoding, Buffer>>
      contentSecurityPolicy?: string
    },
  ) {
    this.#content = content
    this.#variants = options.variants ?? {}
    this.type = options.type
    this.cacheControl = options.cacheControl
    this.contentSecurityPolicy = options.contentSecurityPolicy
    // Weak, because it is the same for all variants.
    this.etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  }

  /** The response to a request: 304 if the client has it already, otherwise the best accepted variant. */
  answer(request: { acceptEncoding: string | undefined; ifNoneMatch: string | undefined }): {
    status: 200 | 304
    headers: Record<string, string>
    body: Buffer | undefined
  } {
    const headers: Record<string, string> = {
      'cache-control': this.cacheControl,
      etag: this.etag,
      ...(Object.keys(this.#variants).length > 0 ? { vary: 'accept-encoding' } : {}),
      ...(this.contentSecurityPolicy ? { 'content-security-policy': this.contentSecurityPolicy } : {}),
    }
    const known = request.ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^(?!W\/)/, 'W/'))
    if (known?.includes(this.etag)) return { status: 304, headers, body: undefined }
    headers['content-type'] = this.type
    const encoding = encodings.find((name) => this.#variants[name] && accepts(request.acceptEncoding, name))
    if (!encoding) return { status: 200, headers, body: this.#content }
    return { status: 200, headers: { ...headers, 'content-encoding': encoding }, body: this.#variants[encoding] }
  }
}

/** Sends a file as the response. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status?: 404): FastifyReply {
  const answer = file.answer({
    acceptEncoding: request.headers['accept-encoding'],
    // A 404 must not become a 304.
    ifNoneMatch: status === 404 ? undefined : request.headers['if-none-match'],
  })
  return reply
    .code(status ?? answer.status)
    .headers(answer.headers)
    .send(answer.body)
}

function accepts(acceptEncoding = '', encoding: Encoding): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** Fast enough for the first request of a document; files are compressed by the build. */
function compress(content: Buffer): Partial<Record<Encoding, Buffer>> {
  return {
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } }),
    gzip: gzipSync(content, { level: 9 }),
  }
}

/** Pictures contain inline styles, and load nothing. */
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'"

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Decodes the entities in attributes, because the browser hashes their decoded value. */
const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" }
const unescaped = (text: string) =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity)

/** The hashes of the inline scripts and style attributes that a document was built with. */
function inlineHashes(html: string): { scripts: string[]; styles: string[] } {
  const scripts = [...html.matchAll(/<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)<\/script>/gs)]
  const styles = [...html.matchAll(/<[a-z][^>]*? style="([^"]*)"/g)]
  const unique = (texts: string[]) => [...new Set(texts)].map(sha256)
  return {
    scripts: unique(scripts.map(([, text = '']) => text)),
    styles: unique(styles.map(([, text = '']) => unescaped(text))),
  }
}

/** A page rendered with current data. */
export interface RenderedPage {
  /** The page's markup. */
  markup: string
  /** The data for hydration. */
  data: PageData
  /** Markup for the document's head, without scripts that run. */
  head: string
}

/** A page's document: as built, or rendered with current data. */
export class SiteDocument {
  readonly #html: string
  readonly #policyOf: PolicyOf
  #asBuilt: SiteFile | undefined

  constructor(html: string, policyOf: PolicyOf) {
    this.#html = html
    this.#policyOf = policyOf
  }

  file(): SiteFile {
    this.#asBuilt ??= this.#fileOf(this.#html)
    return this.#asBuilt
  }

  renderedFile({ markup, data, head }: RenderedPage): SiteFile {
    const [before, after] = applicationMarkers
    const start = this.#html.indexOf(before) + before.length
    const top = this.#html.slice(0, start)
    const rest = this.#html.slice(this.#html.indexOf(after, start))
    const script = dataScript(`type="application/json" id="${pageDataId}"`, data)
    return this.#fileOf(top.replace('</head>', () => `${head}${script}</head>`) + markup + rest)
  }

  #fileOf(html: string): SiteFile {
    const content = Buffer.from(html)
    return new SiteFile(content, {
      type: types['.html'] ?? '',
      cacheControl: 'no-cache',
      variants: compress(content),
      contentSecurityPolicy: this.#policyOf(inlineHashes(html)),
    })
  }
}

type PolicyOf = (hashes: { scripts: string[]; styles: string[] }) => string

export interface SiteFiles {
  /** Keyed by path, such as `/assets/main.js`. */
  files: ReadonlyMap<string, SiteFile>
  documents: ReadonlyMap<PagePath, SiteDocument>
  notFound: SiteDocument
  renderApplication: RenderApplication
}

/** A file of a build, with the headers that follow from its name. */
export function fileNamed(name: string, content: Buffer, variants: Partial<Record<Encoding, Buffer>>): SiteFile {
  const extension = extname(name)
  return new SiteFile(content, {
    type: types[extension] ?? '',
    ...(extension === '.svg' ? { contentSecurityPolicy: picturePolicy } : {}),
    cacheControl: hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
    variants,
  })
}

/** Reads the built site into memory, since it is small and requested all the time. */
export async function readSiteFiles(folder: string, siteUrl: string, policyOf: PolicyOf): Promise<SiteFiles> {
  const root = resolve(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    // The server's renderer is not public.
    .filter((name) => !name.startsWith('server/'))
  const all = new Set(entries.map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')))
  const read = (name: string) => readFile(join(root, name))
  // The site's URL is not known at build time.
  const readText = async (name: string) => (await readFile(join(root, name), 'utf8')).replaceAll(buildOrigin, siteUrl)

  const files = new Map<string, SiteFile>()
  for (const name of names.filter((name) => !name.endsWith('.html'))) {
    const extension = extname(name)
    const addressed = extension === '.xml' || extension === '.txt'
    const content = addressed ? Buffer.from(await readText(name)) : await read(name)
    const variants = addressed
      ? compress(content)
      : {
          ...(all.has(`${name}.br`) ? { br: await read(`${name}.br`) } : {}),
          ...(all.has(`${name}.gz`) ? { gzip: await read(`${name}.gz`) } : {}),
        }
    files.set(`/${name}`, fileNamed(name, content, variants))
  }
  const document = async (name: string) => new SiteDocument(await readText(name), policyOf)
  const documents = new Map<PagePath, SiteDocument>()
  for (const path of pagePaths) {
    documents.set(path, await document(path === '/' ? 'index.html' : `${path.slice(1)}.html`))
  }
  const server: unknown = await import(pathToFileURL(join(root, 'server/server.js')).href)
  const { renderApplication } = server as Pick<SiteFiles, 'renderApplication'>
  return { files, documents, notFound: await document('404.html'), renderApplication }
}

/** A name with a content hash, under which the file never changes. */
const hashedName = /-[\w-]{8}\.\w+$/

/** Whether the path is a hashed file in a build's assets folder, and nothing outside of it. */
export function isHashedAsset(path: string): boolean {
  return /^assets\/[\w.-]+$/.test(path) && hashedName.test(path) && extname(path) in types
}

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

/** What `Accept-Encoding` calls each, best first. */
const encodings = ['br', 'gzip'] as const
type Encoding = (typeof encodings)[number]

/** Something that is served as it is, with its smaller forms where it has them. */
export class SiteFile {
  readonly type: string
  readonly cacheControl: string
  readonly etag: string
  /** A document's own, where it has one. */
  readonly contentSecurityPolicy: string | undefined
  readonly #content: Buffer
  readonly #smaller: Partial<Record<Encoding, Buffer>>

  constructor(
    content: Buffer,
    options: {
      type: string
      cacheControl: string
      smaller?: Partial<Record<Encoding, Buffer>>
      contentSecurityPolicy?: string
    },
  ) {
    this.#content = content
    this.#smaller = options.smaller ?? {}
    this.type = options.type
    this.cacheControl = options.cacheControl
    this.contentSecurityPolicy = options.contentSecurityPolicy
    // Weak: one for all of its forms.
    this.etag = `W/"${createHash('sha256').update(content).digest('base64url').slice(0, 22)}"`
  }

  /** The answer to a request: 304 and nothing where the asker has it already, and the smallest form that it takes. */
  answer(request: { acceptEncoding: string | undefined; ifNoneMatch: string | undefined }): {
    status: 200 | 304
    headers: Record<string, string>
    body: Buffer | undefined
  } {
    const headers: Record<string, string> = {
      'cache-control': this.cacheControl,
      etag: this.etag,
      ...(Object.keys(this.#smaller).length > 0 ? { vary: 'accept-encoding' } : {}),
      ...(this.contentSecurityPolicy ? { 'content-security-policy': this.contentSecurityPolicy } : {}),
    }
    const known = request.ifNoneMatch?.split(',').map((tag) => tag.trim().replace(/^(?!W\/)/, 'W/'))
    if (known?.includes(this.etag)) return { status: 304, headers, body: undefined }
    headers['content-type'] = this.type
    const encoding = encodings.find((name) => this.#smaller[name] && takes(request.acceptEncoding, name))
    if (!encoding) return { status: 200, headers, body: this.#content }
    return { status: 200, headers: { ...headers, 'content-encoding': encoding }, body: this.#smaller[encoding] }
  }
}

/** Sends a file in answer to a request for it. */
export function sendFile(request: FastifyRequest, reply: FastifyReply, file: SiteFile, status?: 404): FastifyReply {
  const answer = file.answer({
    acceptEncoding: request.headers['accept-encoding'],
    // Nothing is "not modified" at an address that has nothing.
    ifNoneMatch: status === 404 ? undefined : request.headers['if-none-match'],
  })
  return reply
    .code(status ?? answer.status)
    .headers(answer.headers)
    .send(answer.body)
}

function takes(acceptEncoding = '', encoding: Encoding): boolean {
  return acceptEncoding.split(',').some((part) => {
    const [name, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase())
    return name === encoding && !parameters.some((parameter) => /^q=0(\.0*)?$/.test(parameter))
  })
}

/** Quick enough to be made when a document is first asked for; files come with theirs. */
function compressed(content: Buffer): Partial<Record<Encoding, Buffer>> {
  return {
    br: brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 7 } }),
    gzip: gzipSync(content, { level: 9 }),
  }
}

/** A picture has its own colours and lines in it, and nothing else. */
const picturePolicy = "default-src 'none'; style-src 'unsafe-inline'"

const sha256 = (text: string) => `'sha256-${createHash('sha256').update(text).digest('base64')}'`

/** Texts in attributes as the browser hears them. */
const entities: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#x27;': "'" }
const unescaped = (text: string) =>
  text.replaceAll(/&(?:amp|lt|gt|quot|#x27);/g, (entity) => entities[entity] ?? entity)

/** What a document may run and be set in beside files: exactly the scripts and style attributes that it was built with. */
function inlineHashes(html: string): { scripts: string[]; styles: string[] } {
  const scripts = [...html.matchAll(/<script(?![^>]*\b(?:src|type)=)[^>]*>(.*?)<\/script>/gs)]
  const styles = [...html.matchAll(/<[a-z][^>]*? style="([^"]*)"/g)]
  const unique = (texts: string[]) => [...new Set(texts)].map(sha256)
  return {
    scripts: unique(scripts.map(([, text = '']) => text)),
    styles: unique(styles.map(([, text = '']) => unescaped(text))),
  }
}

/** What is known today of a page that was built before. */
export interface Today {
  /** The page's markup, with the data. */
  markup: string
  /** The data, for the browser that takes it over. */
  data: PageData
  /** Markup for the document's head that runs nothing. */
  head: string
}

/** A page's document: as it was built, and with what is known today. */
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

  fileOfToday({ markup, data, head }: Today): SiteFile {
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
      smaller: compressed(content),
      contentSecurityPolicy: this.#policyOf(inlineHashes(html)),
    })
  }
}

type PolicyOf = (hashes: { scripts: string[]; styles: string[] }) => string

export interface SiteFiles {
  /** By the address, `/assets/main.js`. */
  files: ReadonlyMap<string, SiteFile>
  documents: ReadonlyMap<PagePath, SiteDocument>
  notFound: SiteDocument
  renderApplication: RenderApplication
}

/** A file of a build, served as its name says. */
export function fileNamed(name: string, content: Buffer, smaller: Partial<Record<Encoding, Buffer>>): SiteFile {
  const extension = extname(name)
  return new SiteFile(content, {
    type: types[extension] ?? '',
    ...(extension === '.svg' ? { contentSecurityPolicy: picturePolicy } : {}),
    cacheControl: hashedName.test(name) ? 'public, max-age=31536000, immutable' : 'public, max-age=3600',
    smaller,
  })
}

/** Reads the built site into memory: it is small, and asked for all the time. */
export async function readSiteFiles(folder: string, siteUrl: string, policyOf: PolicyOf): Promise<SiteFiles> {
  const root = resolve(folder)
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const names = entries
    .filter((entry) => entry.isFile() && extname(entry.name) in types)
    .map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/'))
    // What renders the pages is nobody's to load.
    .filter((name) => !name.startsWith('server/'))
  const all = new Set(entries.map((entry) => relative(root, join(entry.parentPath, entry.name)).split(sep).join('/')))
  const read = (name: string) => readFile(join(root, name))
  // The site's own address is known only here.
  const readText = async (name: string) => (await readFile(join(root, name), 'utf8')).replaceAll(buildOrigin, siteUrl)

  const files = new Map<string, SiteFile>()
  for (const name of names.filter((name) => !name.endsWith('.html'))) {
    const extension = extname(name)
    const addressed = extension === '.xml' || extension === '.txt'
    const content = addressed ? Buffer.from(await readText(name)) : await read(name)
    const smaller = addressed
      ? compressed(content)
      : {
          ...(all.has(`${name}.br`) ? { br: await read(`${name}.br`) } : {}),
          ...(all.has(`${name}.gz`) ? { gzip: await read(`${name}.gz`) } : {}),
        }
    files.set(`/${name}`, fileNamed(name, content, smaller))
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

/** Named by what is in it: under this name it never changes. */
const hashedName = /-[\w-]{8}\.\w+$/

/** Whether it is in a build's folder of such files, at an address that names nothing outside of it. */
export function isHashedAsset(path: string): boolean {
  return /^assets\/[\w.-]+$/.test(path) && hashedName.test(path) && extname(path) in types
}

import { randomUUID } from 'node:crypto'
import { fetchProven } from '@robokids/local/prove'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { checkDocumented } from './api-documents.ts'

/** A cookie that a local BFF accepts as that of a browser that has bought something. */
export function browserCookie(): string {
  const known = { id: randomUUID(), until: Date.now() + 86_400_000 }
  return `robokids-browser=${sealingKeysSchema.parse(localSealingKeys).seal(JSON.stringify(known), 'robokids-browser')}`
}

export interface Answer {
  /** 0 if there was no response, because a process was killed. */
  status: number
  body: Record<string, unknown>
  headers: Headers
}

/** Sends a JSON request, with proof of work if required. A response that is not JSON is returned as `text`. */
export async function askJson(url: string | URL, request: RequestInit): Promise<Answer> {
  const answer = await fetchProven(url, request).catch(() => undefined)
  if (!answer) return { status: 0, body: {}, headers: new Headers() }
  const text = await answer.text().catch(() => '')
  return { status: answer.status, body: parsed(text), headers: answer.headers }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { text }
  }
}

/** Body and headers of a JSON request. */
export function jsonBody(body: unknown): Pick<RequestInit, 'body'> & { headers: Record<string, string> } {
  return body === undefined
    ? { headers: {} }
    : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** A browser: it keeps cookies, and sends its origin and the account of its page. */
export class Browser {
  cookies = new Map<string, string>()
  readonly siteUrl: string
  /** Where its requests go, if there are several BFFs. */
  bffUrl: string
  /** The client address that a proxy in front would forward; undefined without a proxy. */
  address: string | undefined
  /** The account (`userId`) that its page was rendered for. */
  userId: string | undefined

  constructor(siteUrl: string, bffUrl = siteUrl) {
    this.siteUrl = siteUrl
    this.bffUrl = bffUrl
  }

  /** Copies the current cookies and settings to another browser. */
  copyTo<Other extends Browser>(other: Other): Other {
    other.cookies = new Map(this.cookies)
    other.bffUrl = this.bffUrl
    other.address = this.address
    other.userId = this.userId
    return other
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const content = jsonBody(body)
    const answer = await askJson(this.bffUrl + path, {
      method,
      ...content,
      headers: {
        'x-api-key': 'robokids-web',
        origin: this.siteUrl,
        cookie: [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(this.address === undefined ? {} : { 'x-forwarded-for': this.address }),
        ...(this.userId === undefined ? {} : { 'x-account': this.userId }),
        ...content.headers,
        ...headers,
      },
    })
    if (answer.headers.get('content-type')?.startsWith('application/json') === true)
      checkDocumented('bff', method, path, answer.status, answer.body)
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.cookies.delete(name)
      else this.cookies.set(name, value)
    }
    return answer
  }

  get = (path: string) => this.ask('GET', path)
  post = (path: string, body?: unknown) => this.ask('POST', path, body)
}

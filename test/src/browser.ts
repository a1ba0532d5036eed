import { randomUUID } from 'node:crypto'
import { fetchProven } from '@robokids/local/prove'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'

/** The cookie by which the BFF of a local system knows a browser that has bought something. */
export function browserCookie(): string {
  const known = { id: randomUUID(), until: Date.now() + 86_400_000 }
  return `robokids-browser=${sealingKeysSchema.parse(localSealingKeys).seal(JSON.stringify(known), 'robokids-browser')}`
}

export interface Answer {
  /** 0 where there was none: a process was killed meanwhile. */
  status: number
  body: Record<string, unknown>
  headers: Headers
}

/** Asks over HTTP with JSON, with a proof of work where one is asked for. An answer that is no JSON is its `text`. */
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

/** What a request says of its body, where it has one. */
export function jsonBody(body: unknown): Pick<RequestInit, 'body'> & { headers: Record<string, string> } {
  return body === undefined
    ? { headers: {} }
    : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }
}

/** A browser: it keeps cookies, and says where it comes from and for whom its page was made. */
export class Browser {
  cookies = new Map<string, string>()
  readonly siteUrl: string
  /** Where its requests go: to one of several BFFs, perhaps. */
  bffUrl: string
  /** Where it is, as a proxy in front would tell; undefined where none is in front. */
  address: string | undefined
  /** The account (`userId`) that its page was made for. */
  userId: string | undefined

  constructor(siteUrl: string, bffUrl = siteUrl) {
    this.siteUrl = siteUrl
    this.bffUrl = bffUrl
  }

  /** Another window of it, or a copy of what it keeps, as it is now. */
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

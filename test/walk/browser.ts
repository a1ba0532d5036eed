import type { Account } from './walk.ts'

export interface Answer {
  /** 0 where there was none: the process was killed meanwhile. */
  status: number
  body: Record<string, unknown>
}

/** A browser of a family: it keeps cookies, and says where it comes from. */
export class Browser {
  readonly #siteUrl: string
  readonly #cookies = new Map<string, string>()
  /** Who is signed in, as far as its family knows. */
  account: Account | undefined
  /** Whose page an older tab shows, which was not loaded again since. */
  olderTab: Account | undefined

  constructor(siteUrl: string) {
    this.#siteUrl = siteUrl
  }

  async ask(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    const answer = await fetch(this.#siteUrl + path, {
      method,
      headers: {
        'x-api-key': 'robokids-web',
        origin: this.#siteUrl,
        cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(this.account ? { 'x-account': this.account.userId } : {}),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    }).catch(() => undefined)
    if (!answer) return { status: 0, body: {} }
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    const text = await answer.text().catch(() => '')
    return { status: answer.status, body: parsed(text) }
  }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch {
    return { text }
  }
}

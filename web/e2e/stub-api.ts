import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as wait } from 'node:timers/promises'
import { accountHeader } from '@robokids/contracts/auth'
import type { ClassesView, RegistrationView } from '@robokids/contracts/bff'
import { type ErrorCode, errorStatus, type ErrorDetails } from '@robokids/contracts/errors'
import { robotSpider, teddyBear } from '@robokids/contracts/products'
import { proofHeader } from '@robokids/contracts/proof'
import type { ShopView } from '@robokids/contracts/shop'
import { StubAccounts } from './stub-accounts.ts'
import { sampleWaiver, waiverPdf } from './waiver-pdf.ts'

export interface Call {
  method: string
  path: string
  /** Including the question mark; empty if there is none. */
  query: string
  body: Record<string, unknown>
  /** The account that the page is for, if it sends one. */
  account: string | undefined
  /** Its proof of work, if any. */
  proof: string | undefined
}

export interface Answer {
  status?: number
  json?: unknown
  /** Instead of `json`: a response of this content type. */
  html?: string
  /** A PDF download, instead of both. */
  pdf?: { bytes: Buffer; name: string }
  delayMs?: number
  /** The server has handled the request, and the response is lost. */
  lost?: boolean
}

type Handler = (call: Call, nth: number) => Answer | Promise<Answer>

/** A handler whose responses wait until the test releases them, after it has checked the pending state. */
export function held(answer: (call: Call) => Answer): { handler: Handler; release: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>()
  return { handler: (call) => promise.then(() => answer(call)), release: resolve }
}

export function refusal(
  code: ErrorCode,
  message: string,
  issues?: { path: string; message: string }[],
  details: ErrorDetails = {},
): Answer {
  return {
    status: errorStatus[code],
    json: { code, message, requestId: 'stub', ...(issues ? { issues } : {}), ...details },
  }
}

const levels = [
  ['lvl1', 'basic', 'Level 1 Foundations', 6, 13, '6 weeks', 40000],
  ['lvl2', 'intermediate', 'Level 2 Smart Robotics and Coding', 8, 14, '6 weeks', 50000],
  ['lvl3', 'advanced', 'Level 3 Autonomous Mastery', 10, 15, '8 weeks', 75000],
  ['lvlX', 'custom', 'Level X Custom Innovation Lab', 11, 16, '6 to 8 weeks', 100000],
] as const

/** The four dates of the first season, with few seats on the third and none on the last. */
export function sampleClasses(): ClassesView {
  return {
    levels: levels.map(([levelId, classType, title, from, to, programLength, amount], level) => ({
      levelId,
      classType,
      title,
      description:
        'Your child builds a robot from the first part on, live with a coach and a small group, and learns why it works.',
      recommendedAges: { from, to },
      programLength,
      price: { amount, currency: 'usd' },
      sessions: [10, 7, 1, 0].map((seatsLeft, index) => ({
        classSessionId: `019a0000-0000-7000-8000-0000000000${level}${index}`,
        date: `2025-10-0${3 + index}`,
        startTime: '16:00',
        durationMinutes: 75,
        timeZone: 'America/Los_Angeles',
        capacity: 10,
        seatsLeft,
      })),
    })),
    promotion: {
      promotionId: '019a0000-0000-7000-8000-000000000001',
      classTypes: ['basic', 'intermediate', 'advanced'],
      lastDay: '2025-10-10',
    },
  }
}

const sampleShop: ShopView = {
  products: [
    { sku: robotSpider, name: 'Robot Spider', state: 'pre_order', amount: 30_000, currency: 'usd' },
    { sku: teddyBear, name: 'AI Teddy Bear Companion', state: 'coming_soon', amount: 15_000, currency: 'usd' },
  ],
  classesFrom: { amount: 40_000, currency: 'usd' },
}

/** The BFF's responses as set by a test; successful by default. */
export class StubApi {
  readonly calls: Call[] = []
  readonly accounts = new StubAccounts()
  classes = sampleClasses()
  /** The delay of each response. */
  delayMs = 0
  readonly #views = new Map<string, RegistrationView>()
  readonly #streams = new Map<string, Set<ServerResponse>>()
  readonly #homes = new Set<ServerResponse>()
  readonly #handlers = new Map<string, Handler>()
  readonly #counts = new Map<string, number>()

  /** Sets the handler of `POST /api/registrations` and the like; `:reference` matches any. */
  on(route: string, handler: Handler): void {
    this.#handlers.set(route, handler)
  }

  /** Sets the registration's state, for requests and for open event streams. */
  tell(view: RegistrationView): void {
    this.#views.set(view.registrationId, view)
    for (const stream of this.#streams.get(view.registrationId) ?? []) stream.write(stateEvent(view))
  }

  /** Sends a changed part of the family's home to its open event streams. */
  changeHome(part: string, view: unknown): void {
    for (const stream of this.#homes) stream.write(`event: ${part}\ndata: ${JSON.stringify(view)}\n\n`)
  }

  /** The number of open event streams of the family's home. */
  get homeWatchers(): number {
    return [...this.#homes].filter((stream) => !stream.destroyed).length
  }

  view(reference: string): RegistrationView | undefined {
    return this.#views.get(reference)
  }

  /** The number of open event streams. */
  watchersOf(reference: string): number {
    return [...(this.#streams.get(reference) ?? [])].filter((stream) => !stream.destroyed).length
  }

  callsOf(method: string, path: RegExp): Call[] {
    return this.calls.filter((call) => call.method === method && path.test(call.path))
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname: path, search: query } = new URL(request.url ?? '/', 'http://site')
    // HEAD is handled like GET; Node omits the body.
    const method = request.method === 'HEAD' ? 'GET' : (request.method ?? 'GET')
    const body = await text(request)
    const account = request.headers[accountHeader]?.toString()
    const proof = request.headers[proofHeader]?.toString()
    const call: Call = { method, path, query, body: body === '' ? {} : JSON.parse(body), account, proof }
    this.calls.push(call)
    if (this.delayMs > 0) await wait(this.delayMs)
    const named = path
      .replace(/^(\/api\/registrations\/)[^/]+/, '$1:reference')
      .replace(
        /^(\/api\/(?:membership-checkouts|member-seats|orders|waitlist|choices|shop\/notices)\/)[^/]+/,
        '$1:reference',
      )
      .replace(/^(\/api\/dashboard\/registrations\/)[^/]+/, '$1:id')
      .replace(/^(\/api\/profile\/passkeys\/)(?!options$)[^/]+/, '$1:id')
      .replace(/^(\/api\/profile\/devices\/)[^/]+/, '$1:key')
    const route = `${method} ${named}`
    const nth = (this.#counts.get(route) ?? 0) + 1
    this.#counts.set(route, nth)
    const handler = this.#handlers.get(route)
    if (handler) return send(response, await handler(call, nth))
    const answer = this.accounts.answer(route, call, request.headers.host ?? '')
    return answer ? send(response, answer) : this.#usual(route, call, response)
  }

  async #usual(route: string, { path, body }: Call, response: ServerResponse): Promise<void> {
    const reference = path.split('/')[3] ?? ''
    const view = this.#views.get(reference)
    switch (route) {
      case 'GET /card-page':
        return send(response, { html: '<!doctype html><title>Card page</title><h1>Card page</h1>' })
      case 'GET /waiver.pdf':
        response.writeHead(200, {
          'content-type': 'application/pdf',
          'x-document-sha256': sampleWaiver.sha256,
        })
        response.end(waiverPdf)
        return
      case 'GET /api/waiver-document':
        return send(response, { json: sampleWaiver })
      case 'GET /api/proof':
        return send(response, { json: { challenge: null } })
      case 'GET /api/classes':
        return send(response, { json: this.classes })
      case 'GET /api/shop':
        return send(response, { json: sampleShop })
      case 'POST /api/contact':
        return send(response, { json: { reference: 'M-0F3A9C1B' } })
      case 'POST /api/checkout':
        return send(response, {
          json: { checkoutUrl: `http://${response.req.headers.host}/card-page`, orderId: body['orderId'] },
        })
      case 'POST /api/registrations':
        return send(response, {
          json: { checkoutUrl: `http://${response.req.headers.host}/card-page`, registrationId: body['id'] },
        })
      case 'POST /api/registrations/:reference/checkout':
        return send(response, {
          json: { checkoutUrl: `http://${response.req.headers.host}/card-page`, registrationId: reference },
        })
      case 'GET /api/registrations/:reference':
        return send(
          response,
          view
            ? { json: view }
            : refusal('registration_not_found', 'We can’t find a registration with this reference.'),
        )
      case 'GET /api/registrations/:reference/events':
        if (!view)
          return send(response, refusal('registration_not_found', 'We can’t find a registration with this reference.'))
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
        response.write(stateEvent(view))
        this.#streams.set(reference, (this.#streams.get(reference) ?? new Set()).add(response))
        return
      case 'GET /api/dashboard/events':
        response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
        response.flushHeaders()
        this.#homes.add(response)
        return
      case 'GET /api/member-seats/:reference':
        return send(response, {
          json: {
            membershipId: reference,
            status: 'seated',
            classDate: '2030-01-04',
            startTime: '16:00',
            waiverSignedAt: null,
          },
        })
      case 'POST /api/waivers':
        return send(response, {
          json: {
            waiverId: '019a0000-0000-7000-8000-00000000000a',
            registrationId: body['registrationId'] ?? '019a0000-0000-7000-8000-00000000000b',
            signedAt: '2025-09-20T18:00:00.000Z',
          },
        })
      default:
        return send(response, refusal('not_found', 'There is nothing at this address.'))
    }
  }
}

const stateEvent = (view: RegistrationView) => `event: state\ndata: ${JSON.stringify(view)}\n\n`

async function send(response: ServerResponse, answer: Answer): Promise<void> {
  if (answer.delayMs) await wait(answer.delayMs)
  if (answer.lost) {
    response.destroy()
    return
  }
  if (answer.pdf) {
    const { bytes, name } = answer.pdf
    const disposition = `attachment; filename="${name}"`
    response.writeHead(200, { 'content-type': 'application/pdf', 'content-disposition': disposition }).end(bytes)
    return
  }
  const type = answer.html === undefined ? 'application/json' : 'text/html'
  response.writeHead(answer.status ?? 200, { 'content-type': type, 'cache-control': 'no-store' })
  response.end(answer.html ?? JSON.stringify(answer.json ?? {}))
}

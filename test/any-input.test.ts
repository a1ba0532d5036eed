import { randomUUIDv7 } from 'node:crypto'
import { membershipCheckoutSchema } from '@robokids/contracts/billing'
import { registrationSchema } from '@robokids/contracts/enrollment'
import { codeIssued } from '@robokids/contracts/identity'
import { canBeBought, orderSchema, productsSchema } from '@robokids/contracts/shop'
import { owningServices } from '@robokids/local/services'
import { localSealingKeys, sealingKeysSchema } from '@robokids/runtime/seal'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { eventually } from './src/bed.ts'
import { sampleOfSchema } from './src/sample-of-schema.ts'
import { sampleFamily } from './src/samples.ts'
import { methodsOf, startServicesInProcess, type ServicesInProcess } from './src/services-in-process.ts'

/** Hostile values: other types and sizes, and text with a special meaning elsewhere. */
const hostile: unknown[] = [
  null,
  true,
  0,
  -1,
  0.5,
  1e21,
  -1e308,
  2 ** 31,
  2 ** 53,
  253_402_300_800,
  8_640_000_000_001,
  '',
  ' ',
  'x',
  '0',
  'NaN',
  '\u0000',
  '\ud800',
  '\u202e',
  '🤖',
  'a'.repeat(5_000),
  "'; drop table outbox; --",
  '../../etc/passwd',
  '%00',
  '__proto__',
  '9999-12-31',
  '+275760-09-13',
  '2027-02-30',
  '2027-01-08T25:00:00Z',
  '-271821-04-19T00:00:00Z',
  '00000000-0000-0000-0000-000000000000',
  '01a22818-d188-757c-b15e-ce9e86dc61d5',
  [],
  [[]],
  [null],
  {},
  { constructor: { prototype: {} } },
]

/** The body with each of its parts in turn, and finally the whole, replaced by a hostile value. */
function* mutations(
  body: unknown,
  twist: (value: unknown) => unknown = (value) => value,
  path = '',
): Generator<[string, unknown]> {
  for (const value of hostile) yield [`${path} = ${JSON.stringify(value)?.slice(0, 40)}`, twist(value)]
  if (typeof body !== 'object' || body === null) return
  for (const [name, part] of Object.entries(body)) {
    const within = (value: unknown) =>
      twist(
        Array.isArray(body) ? body.map((one, at) => (String(at) === name ? value : one)) : { ...body, [name]: value },
      )
    yield* mutations(part, within, `${path}.${name}`)
    if (!Array.isArray(body)) {
      const { [name]: _, ...rest } = body as Record<string, unknown>
      yield [`${path}.${name} left out`, twist(rest)]
    }
  }
}

let services: ServicesInProcess
let known: Record<string, string>
let cookie = ''
const email = `maren.${randomUUIDv7()}@example.com`
const password = 'Robot-2030!'

async function post(url: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> {
  const sent = { 'content-type': 'application/json', ...headers }
  const answer = await fetch(url, { method: 'POST', headers: sent, body: JSON.stringify(body) })
  if (!answer.ok) throw new Error(`${url} was answered ${answer.status}: ${await answer.text()}`)
  return answer
}

/** Creates a signed-in member, a registration and an order. */
beforeAll(async () => {
  services = await startServicesInProcess()
  const { enrollment, billing, identity, bff } = services.running
  const call = (operation: string, input: object) =>
    post(identity.url, input, { 'x-amz-target': `AWSCognitoIdentityProviderService.${operation}` })
  const Username = `user_${randomUUIDv7()}`
  const UserAttributes = [{ Name: 'email', Value: email }]
  await call('SignUp', { ClientId: 'robokidsapp', Username, Password: password, UserAttributes })
  const { data } = await services.bed.bus.seen(codeIssued, ({ destination }) => destination === email)
  const code = sealingKeysSchema.parse(localSealingKeys).open(data.sealedCode, `code:${data.codeId}`)?.toString()
  await call('ConfirmSignUp', { ClientId: 'robokidsapp', Username, ConfirmationCode: code })
  const signedIn = await post(`${bff.url}/api/auth/sign-in`, { email, password }, { 'x-api-key': 'robokids-web' })
  cookie = signedIn.headers
    .getSetCookie()
    .map((one) => one.split(';')[0])
    .join('; ')
  expect(cookie).toContain('robokids-session')

  const classes = (await (await fetch(`${enrollment.url}/classes`)).json()) as {
    levels: { classType: string; sessions: { date: string }[] }[]
  }
  const startDate = classes.levels.find(({ classType }) => classType === 'basic')?.sessions[0]?.date ?? ''
  const family = { ...sampleFamily(), classType: 'basic', startDate }
  const registration = registrationSchema.parse(await (await post(`${enrollment.url}/registrations`, family)).json())
  const { products } = productsSchema.parse(await (await fetch(`${billing.url}/products`)).json())
  const sku = products.find(({ state }) => canBeBought(state))?.sku
  const order = await post(`${billing.url}/orders`, { orderId: randomUUIDv7(), items: [{ sku, quantity: 1 }] })
  const membership = membershipCheckoutSchema.parse(
    await (await post(`${billing.url}/membership-checkouts`, { email, plan: 'monthly', classDate: startDate })).json(),
  )
  const sessionId = new URL(membership.checkoutUrl).pathname.split('/').at(-1)
  await post(`${services.simulator.url}/_sim/checkout/${sessionId}/pay`, { card: '4242424242424242' })
  const found = () => fetch(`${bff.url}/api/membership`, { headers: { cookie } })
  await eventually(async () => (await (await found()).text()).includes('"active"'))
  known = {
    registration: registration.registrationId,
    order: orderSchema.parse(await order.json()).orderId,
    membership: membership.attemptId,
  }
})
afterAll(() => services.stop())

/** An existing id of the kind that the path names. */
function idFor(path: string): string {
  const [, kind] = Object.entries(known).find(([kind]) => path.includes(`/${kind}`)) ?? []
  return kind ?? (/checkouts|waivers|kits/.test(path) ? known['registration'] : undefined) ?? randomUUIDv7()
}

/** Requests that end what the others need come last. */
const ends = [/cancel|expire|password|devices|mfa/, /resume/, /sign-out|profile$/]
const rank = (path: string) => ends.findIndex((end) => end.test(path))

describe.each([...owningServices, 'bff'] as const)('%s', (name) => {
  it('No answer is of a schema that reads its fields otherwise than it writes them: such an answer cannot be sent', () => {
    const unwritable = services.running[name].routes.flatMap(({ method, url, schema }) =>
      Object.entries((schema?.response ?? {}) as Record<string, unknown>).flatMap(([status, answer]) => {
        if (!(answer instanceof z.ZodType)) return []
        try {
          z.toJSONSchema(answer, { io: 'output' })
          return []
        } catch (error) {
          return [`${String(method)} ${url} ${status}: ${(error as Error).message}`]
        }
      }),
    )
    expect(unwritable).toEqual([])
  })

  it('No field of a request causes a server error', { timeout: 600_000 }, async () => {
    const { url: serviceUrl, routes } = services.running[name]
    const headers = {
      'x-admin-secret': 'local-admin',
      'x-api-key': 'robokids-web',
      'x-amz-target': 'AWSCognitoIdentityProviderService.InitiateAuth',
      ...(name === 'bff' ? { cookie } : {}),
    }
    const faults: string[] = []
    let asked = 0
    async function send(what: string, path: string, init: RequestInit) {
      asked += 1
      const answer = await fetch(serviceUrl + path, { ...init, redirect: 'manual' })
      const text = await answer.text()
      if (answer.status >= 500) faults.push(`${what} was answered ${answer.status}: ${text.slice(0, 150)}`)
    }
    // Streams never end.
    const readable = routes.filter(({ url }) => !url.endsWith('/events') && !url.startsWith('/readyz'))
    for (const route of readable.toSorted((one, other) => rank(one.url) - rank(other.url))) {
      const schema = (route.schema ?? {}) as { body?: unknown; querystring?: unknown }
      const address = route.url.replaceAll(/:\w+/g, idFor(route.url)).replace('*', 'x')
      for (const method of methodsOf(route)) {
        const query = sampleOfSchema(schema.querystring)
        if (query !== undefined) {
          for (const [field, value] of mutations(query)) {
            if (typeof value !== 'object' || value === null || Array.isArray(value)) continue
            const given = Object.entries(value).map(([key, one]) => [
              key,
              typeof one === 'string' ? one : JSON.stringify(one),
            ])
            const search = new URLSearchParams(given)
            if (method === 'GET') await send(`GET ${route.url}?${field}`, `${address}?${search}`, { headers })
          }
        }
        for (const param of route.url.includes(':') ? hostile : []) {
          const path = route.url.replaceAll(/:\w+/g, encodeURIComponent(String(param).toWellFormed()).slice(0, 1_000))
          await send(`${method} ${route.url} of ${String(param).slice(0, 40)}`, path, { method, headers })
        }
        const body = sampleOfSchema(schema.body)
        if (method === 'GET' || body === undefined) continue
        for (const [field, value] of mutations(body)) {
          const text = JSON.stringify(value) ?? ''
          const json = { ...headers, 'content-type': 'application/json' }
          await send(`${method} ${route.url} ${field}`, address, { method, headers: json, body: text })
        }
      }
    }
    expect(faults).toEqual([])
    expect(asked).toBeGreaterThan(name === 'identity' ? 50 : 500)
  })
})

import { errorBodySchema } from '@robokids/contracts/errors'
import { owningServices, type ServiceName } from '@robokids/local/services'
import { isAccessCheck } from '@robokids/runtime/access-check'
import type { RunningService } from '@robokids/runtime/service'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { sampleOfSchema } from './src/sample-of-schema.ts'
import { methodsOf, startServicesInProcess, type ServicesInProcess } from './src/services-in-process.ts'

let services: ServicesInProcess
beforeAll(async () => {
  services = await startServicesInProcess()
})
afterAll(() => services.stop())

const names: ServiceName[] = [...owningServices, 'bff']
type Route = RunningService<object>['routes'][number]
const hooksOf = (hooks: unknown): unknown[] => [hooks].flat()
const checksAccess = ({ onRequest }: Route) => hooksOf(onRequest).some(isAccessCheck)
const refusals = ['sign_in_required', 'admin_secret_invalid']

/** Through a proxy: direct requests count as internal. */
const stranger = { 'x-forwarded-for': '198.51.100.1', 'x-api-key': 'robokids-web' }

async function codeOf(url: string, init: RequestInit): Promise<{ status: number; code: string | undefined }> {
  const answer = await fetch(url, { ...init, redirect: 'manual', signal: AbortSignal.timeout(20_000) })
  const text = await answer.text().catch(() => '')
  if (!answer.headers.get('content-type')?.startsWith('application/json'))
    return { status: answer.status, code: undefined }
  return { status: answer.status, code: errorBodySchema.safeParse(JSON.parse(text)).data?.code }
}

const filled = (path: string, value: string) => path.replaceAll(/:\w+/g, value).replace('*', 'x')

describe.each(names)('Routes of %s', (name) => {
  const routes = () => services.running[name].routes

  it('A route that checks access does so first', () => {
    const later = routes().filter(({ preParsing, preValidation, preHandler }) =>
      [preParsing, preValidation, preHandler].flatMap(hooksOf).some(isAccessCheck),
    )
    expect(later.map(({ url }) => url)).toEqual([])
  })

  it('A route that needs a session or a secret says so, whatever else is wrong with the request', async () => {
    const { url: serviceUrl } = services.running[name]
    for (const route of routes().filter(checksAccess)) {
      for (const method of methodsOf(route)) {
        const path = `${filled(route.url, '%00none')}?limit=-1&format=nonsense&status=nonsense&since=never&all=x&cursor=!`
        const bodies: [string | undefined, string][] =
          method === 'GET'
            ? [[undefined, '']]
            : [
                ['{"a":', 'application/json'],
                ['', 'application/json'],
                ['[null]', 'application/json'],
                ['a', 'text/csv'],
                ['a'.repeat(200_000), 'application/json'],
              ]
        for (const [body, type] of bodies) {
          const headers = { ...stranger, ...(type ? { 'content-type': type } : {}) }
          const { status, code } = await codeOf(serviceUrl + path, {
            method,
            headers,
            ...(body === undefined ? {} : { body }),
          })
          expect({ route: `${method} ${route.url}`, status, known: refusals.includes(code ?? '') }).toEqual({
            route: `${method} ${route.url}`,
            status: 401,
            known: true,
          })
        }
      }
    }
  })

  it('A route that does not check access first does not check it later', async () => {
    const { url: serviceUrl } = services.running[name]
    for (const route of routes().filter((one) => !checksAccess(one))) {
      // Signing out needs no session; only signing out everywhere, as its body says, does.
      if (route.url === '/api/auth/sign-out') continue
      for (const method of methodsOf(route)) {
        // A valid request, to get as far as possible. Streams never end.
        const sample = sampleOfSchema(route.schema?.body)
        const path = filled(route.url, '01a22818-d188-757c-b15e-ce9e86dc61d5')
        const hasBody = method !== 'GET' && sample !== undefined
        const { code } = await codeOf(serviceUrl + path, {
          method,
          headers: { ...stranger, ...(hasBody ? { 'content-type': 'application/json' } : {}) },
          ...(hasBody ? { body: JSON.stringify(sample) } : {}),
        })
        expect({ route: `${method} ${route.url}`, known: refusals.includes(code ?? '') }).toEqual({
          route: `${method} ${route.url}`,
          known: false,
        })
      }
    }
  })
})

describe('Routes that check access', () => {
  it('The routes that check access are those of accounts and administrators, as many as the services declare', () => {
    const guarded = names.flatMap((name) =>
      services.running[name].routes.filter(checksAccess).map(({ url }) => `${name} ${url}`),
    )
    for (const one of [
      'bff /api/profile',
      'bff /api/membership/switch',
      'bff /api/getAllRegistrations',
      'billing /refunds',
    ])
      expect(guarded).toContain(one)
    const administrators = names.flatMap((name) =>
      services.running[name].routes.filter(({ url }) => url.startsWith('/admin/')).map(({ url }) => `${name} ${url}`),
    )
    expect(administrators.filter((one) => !guarded.includes(one))).toEqual([])
  })
})

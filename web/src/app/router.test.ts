import { pagePaths, redirects } from '@robokids/contracts/pages'
import { QueryClient } from '@tanstack/react-query'
import { type AnyRoute, createMemoryHistory, isRedirect, linkOptions } from '@tanstack/react-router'
import { describe, expect, it } from 'vitest'
import { buildRouter } from './router.tsx'

const routerAt = (address: string) =>
  buildRouter(new QueryClient(), { history: createMemoryHistory({ initialEntries: [address] }) })

describe('router', () => {
  it('has a screen for each page of the contract, and no other', () => {
    const paths = Object.keys(routerAt('/').routesByPath)
    expect(paths.toSorted()).toEqual([...pagePaths, ...Object.keys(redirects)].toSorted())
  })

  it.each(pagePaths)('has a title for %s', (path) => {
    expect(routerAt('/').routesByPath[path]?.options.staticData?.title).toMatch(/\w/)
  })

  it.each(Object.entries(redirects))('leads from %s to %s, in place of it', (from, to) => {
    const routes: Record<string, AnyRoute> = routerAt('/').routesByPath
    let thrown: unknown
    try {
      routes[from]?.options.beforeLoad({})
    } catch (error) {
      thrown = error
    }
    expect(isRedirect(thrown) && thrown.options).toMatchObject({ to, replace: true })
  })

  it('has types for links and their search parameters', () => {
    // @ts-expect-error -- There is no such page.
    linkOptions({ to: '/no-such-page' })
    // @ts-expect-error -- Its parameter is `reference`.
    linkOptions({ to: '/shop/success', search: { refernce: 'x' } })
    expect(linkOptions({ to: '/shop/success', search: { reference: 'x' } }).search).toEqual({ reference: 'x' })
  })

  it('writes an address as it was read', () => {
    const address = '/robokids/success?childName=true&zipCode=02139&addressLine1=1e5&city=null'
    const { search } = routerAt(address).latestLocation
    expect(search).toEqual({
      childName: 'true',
      zipCode: '02139',
      addressLine1: '1e5',
      city: 'null',
    })
    expect(routerAt('/').buildLocation({ to: '/robokids/success', search }).href).toBe(address)
  })
})

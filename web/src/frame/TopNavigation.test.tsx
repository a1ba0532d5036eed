import { QueryClient } from '@tanstack/react-query'
import { createMemoryHistory, RouterContextProvider } from '@tanstack/react-router'
import { renderToStaticMarkup } from 'react-dom/server'
import { describe, expect, it } from 'vitest'
import { buildRouter } from '../app/router.tsx'
import { TopNavigation } from './TopNavigation.tsx'

function markup(email?: string): string {
  const router = buildRouter(new QueryClient(), { history: createMemoryHistory({ initialEntries: ['/'] }) })
  return renderToStaticMarkup(
    <RouterContextProvider router={router}>
      <TopNavigation email={email} onLogout={() => undefined} />
    </RouterContextProvider>,
  )
}

const hrefs = (html: string) => [...html.matchAll(/<a [^>]*href="([^"]+)"/g)].map((match) => match[1])

describe('TopNavigation', () => {
  it('leads to the main pages and, under More, to the others', () => {
    expect(hrefs(markup())).toEqual([
      '/',
      '/',
      '/robokidslanding',
      '/innovator',
      '/news-guides',
      '/shop',
      '/membership',
      '/about',
      '/faq',
      '/contact',
      '/follow',
      // The other links are in the sheet.
      '/robokidslanding',
      '/membership/login',
    ])
  })

  it('offers Profile and Logout to somebody signed in, and to nobody else', () => {
    const visitor = markup()
    expect(visitor).not.toContain('/profile')
    expect(visitor).not.toContain('Logout')
    expect(visitor).toContain('>Log in</a>')
    const member = markup('maren.holt@example.com')
    expect(hrefs(member)).toContain('/profile')
    expect(member).toContain('>Logout</button>')
    expect(member).not.toContain('>Log in</a>')
  })
})

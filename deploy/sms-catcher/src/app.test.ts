import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createSmsCatcher, type SmsCatcher, type TextMessage } from './app.ts'

let catcher: SmsCatcher
beforeEach(async () => {
  catcher = await createSmsCatcher()
})
afterEach(() => catcher.stop())

function post(body: unknown): Promise<Response> {
  return fetch(`${catcher.url}/messages`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

async function caught(): Promise<TextMessage[]> {
  const answer = await fetch(`${catcher.url}/messages`)
  return ((await answer.json()) as { messages: TextMessage[] }).messages
}

describe('POST /messages', () => {
  it('keeps a message', async () => {
    expect((await post({ id: 'a', to: '+16505550100', text: 'Hello' })).status).toBe(201)
    expect(await caught()).toEqual([
      { id: 'a', to: '+16505550100', text: 'Hello', receivedAt: expect.stringMatching(/^\d{4}-.*Z$/) },
    ])
  })

  it('takes a repeated id for the same message', async () => {
    await post({ id: 'a', to: '+16505550100', text: 'Hello' })
    expect((await post({ id: 'a', to: '+16505550100', text: 'Hello' })).ok).toBe(true)
    expect(await caught()).toHaveLength(1)
  })

  it.each([
    ['no JSON', '{'],
    ['no text', { id: 'a', to: '+16505550100' }],
    ['a text that is none', { id: 'a', to: '+16505550100', text: 7 }],
    ['a text beyond any length', { id: 'a', to: '+16505550100', text: 'x'.repeat(3_000) }],
    ['an array', []],
  ])('answers 400 to %s', async (_case, body) => {
    expect((await post(body)).status).toBe(400)
    expect(await caught()).toHaveLength(0)
  })

  it('lets the oldest go when there are too many', async () => {
    for (let index = 0; index < 501; index += 1) await post({ id: String(index), to: '+16505550100', text: 'Hello' })
    const ids = (await caught()).map(({ id }) => id)
    expect(ids).toHaveLength(500)
    expect([ids[0], ids.at(-1)]).toEqual(['1', '500'])
  })
})

describe('DELETE /messages', () => {
  it('forgets them all', async () => {
    await post({ id: 'a', to: '+16505550100', text: 'Hello' })
    expect((await fetch(`${catcher.url}/messages`, { method: 'DELETE' })).status).toBe(204)
    expect(await caught()).toHaveLength(0)
  })
})

describe('GET /', () => {
  it('shows the messages to people, the newest first, as text and never as markup', async () => {
    await post({ id: 'a', to: '+16505550100', text: 'first' })
    await post({ id: 'b', to: '<script>', text: '<img src=x onerror=alert(1)>\nlast' })
    const page = await (await fetch(`${catcher.url}/`)).text()
    expect(page.indexOf('last')).toBeLessThan(page.indexOf('first'))
    expect(page).toContain('&lt;img src=x')
    expect(page).not.toMatch(/<img|<script/)
  })
})

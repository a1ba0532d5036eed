import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { allEvents, registrationEvents, streams } from './events.ts'

const samples = new URL('./samples/', import.meta.url)

describe('the events', () => {
  it.each(allEvents.map((event) => [event.type, event] as const))('%s still reads its sample', async (type, event) => {
    const sample: unknown = JSON.parse(await readFile(new URL(`${type}.json`, samples), 'utf8'))
    expect(event.schema.parse(sample)).toEqual(sample)
  })

  it('drop fields that they do not know, so that adding one breaks nobody', async () => {
    for (const event of allEvents) {
      const sample = JSON.parse(await readFile(new URL(`${event.type}.json`, samples), 'utf8')) as { data: object }
      expect(event.schema.parse({ ...sample, data: { ...sample.data, addedLater: 1 } })).toEqual(sample)
    }
  })

  it('each have a type of their own, and every sample belongs to one', async () => {
    const types = allEvents.map((event) => event.type)
    expect(new Set(types).size).toBe(types.length)
    expect((await readdir(samples)).toSorted()).toEqual(types.map((type) => `${type}.json`).toSorted())
  })

  it('are about a registration where their sample names one, and never secrets', async () => {
    const naming = []
    for (const event of allEvents) {
      const { data } = JSON.parse(await readFile(new URL(`${event.type}.json`, samples), 'utf8')) as { data: object }
      if ('registrationId' in data) naming.push(event.type)
    }
    expect(registrationEvents.map(({ type }) => type)).toEqual(naming)
    expect(registrationEvents.filter(({ secret }) => secret)).toEqual([])
    expect(naming).toContain('payment.completed')
    expect(naming).not.toContain('code.issued')
  })

  it('are each in exactly one stream, and secrets in one that has nothing else', () => {
    const subjects = streams().flatMap((stream) => stream.subjects)
    expect(subjects.toSorted()).toEqual(allEvents.map((event) => event.type).toSorted())
    for (const stream of streams()) {
      const events = allEvents.filter((event) => stream.subjects.includes(event.type))
      expect(new Set(events.map((event) => event.secret))).toEqual(new Set([stream.secret]))
    }
  })
})

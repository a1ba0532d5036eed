import { readdir, readFile } from 'node:fs/promises'
import { describe, expect, it } from 'vitest'
import { allEvents, registrationEvents, streams } from './events.ts'

const samples = new URL('./samples/', import.meta.url)

describe('all events', () => {
  it.each(allEvents.map((event) => [event.type, event] as const))('%s still parses its sample', async (type, event) => {
    const sample: unknown = JSON.parse(await readFile(new URL(`${type}.json`, samples), 'utf8'))
    expect(event.schema.parse(sample)).toEqual(sample)
  })

  it('drop unknown fields, so that adding one breaks no consumer', async () => {
    for (const event of allEvents) {
      const sample = JSON.parse(await readFile(new URL(`${event.type}.json`, samples), 'utf8')) as { data: object }
      expect(event.schema.parse({ ...sample, data: { ...sample.data, addedLater: 1 } })).toEqual(sample)
    }
  })

  it('have unique types, and every sample belongs to one', async () => {
    const types = allEvents.map((event) => event.type)
    expect(new Set(types).size).toBe(types.length)
    expect((await readdir(samples)).toSorted()).toEqual(types.map((type) => `${type}.json`).toSorted())
  })

  it('are registration events if their sample has a registrationId, and those are never secret', async () => {
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

  it('are in exactly one stream each, secret events in a stream of their own', () => {
    const subjects = streams().flatMap((stream) => stream.subjects)
    expect(subjects.toSorted()).toEqual(allEvents.map((event) => event.type).toSorted())
    for (const stream of streams()) {
      const events = allEvents.filter((event) => stream.subjects.includes(event.type))
      expect(new Set(events.map((event) => event.secret))).toEqual(new Set([stream.secret]))
    }
  })
})

import type { CloudEvent } from '@robokids/contracts/event'
import { applications, consumingServices, owningServices, type OwningService } from '@robokids/local/services'
import { handlerName } from '@robokids/runtime/inbox'
import type postgres from 'postgres'

/** Handlers by event type. */
const handlersOf = new Map<string, { service: OwningService; handler: string }[]>()
for (const service of consumingServices) {
  const { consumers = [] } = await applications[service].load()
  for (const { definition } of consumers) {
    const handlers = handlersOf.get(definition.type) ?? []
    handlers.push({ service, handler: handlerName(service, definition) })
    handlersOf.set(definition.type, handlers)
  }
}

/** Re-read positions, because they become visible out of order. */
const overlap = 200

/** Tracks which published events have not been handled by all their handlers. */
export class EventLedger {
  readonly #sql: (service: OwningService) => postgres.Sql
  readonly #positions = new Map<OwningService, number>()
  #known = new Set<string>()
  /** By service: keys of handler and event id that are still to be handled. */
  readonly #missing = new Map<OwningService, Map<string, string>>()

  constructor(sql: (service: OwningService) => postgres.Sql) {
    this.#sql = sql
  }

  /** Ignores all earlier events. */
  async begin(): Promise<void> {
    this.#known = new Set()
    this.#missing.clear()
    for (const service of owningServices) {
      const [row] = await this.#sql(service)`select coalesce(max(position), 0)::int as position from outbox`
      this.#positions.set(service, Number(row?.['position']))
    }
  }

  /** Lists what is waiting to be published or handled. */
  async waiting(): Promise<string[]> {
    const waiting: string[] = []
    await Promise.all(
      owningServices.map(async (service) => {
        const sql = this.#sql(service)
        const since = this.#positions.get(service) ?? 0
        const rows = await sql<{ position: number; id: string; type: string; published: boolean }[]>`
          select position::int, id, type, published_at is not null or set_aside_at is not null as published
          from outbox where position > ${since} order by position`
        for (const { position, id, type, published } of rows) {
          if (!published) waiting.push(`${service} has to publish ${type}`)
          else if (position - overlap > since) this.#positions.set(service, position - overlap)
          if (this.#known.has(id)) continue
          this.#known.add(id)
          for (const { service: by, handler } of handlersOf.get(type) ?? []) {
            const missing = this.#missing.get(by) ?? new Map<string, string>()
            missing.set(`${handler} ${id}`, type)
            this.#missing.set(by, missing)
          }
        }
      }),
    )
    await Promise.all(
      [...this.#missing].map(async ([service, missing]) => {
        if (missing.size === 0) return
        const ids = [...new Set([...missing.keys()].map((key) => key.slice(key.indexOf(' ') + 1)))]
        const handled = await this.#sql(service)<{ handler: string; id: string }[]>`
          select handler, event_id as id from inbox where event_id = any(${ids}::uuid[])
          union all select handler, (payload::json ->> 'id')::uuid from dead_letters where replayed_at is null`
        for (const { handler, id } of handled) missing.delete(`${handler} ${id}`)
        for (const [key, type] of missing) waiting.push(`${key.split(' ')[0]} has to handle ${type}`)
      }),
    )
    return waiting
  }

  /** Events published since the walk began, oldest first. */
  async published(service: OwningService): Promise<CloudEvent[]> {
    const rows = await this.#sql(service)<{ id: string; envelope: CloudEvent }[]>`
      select id, envelope from outbox where id = any(${[...this.#known]}::uuid[]) order by position`
    return rows.map(({ envelope }) => envelope)
  }
}

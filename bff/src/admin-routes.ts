import { adminRegistrationsSchema } from '@robokids/contracts/bff'
import { registrationQuerySchema } from '@robokids/contracts/enrollment'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { Services } from './upstream.ts'
import { adminRegistrationsView, registrationsCsv, type AdminRegistrations } from './views/admin-registrations.ts'

const querySchema = registrationQuerySchema.extend({
  format: z.enum(['json', 'csv']).default('json'),
  limit: registrationQuerySchema.shape.limit.unwrap().optional(),
})
/** As many as enrollment gives at once. */
const pageOfExport = 500

export function adminRoutes(http: Http, context: Context<Config>, services: Services): void {
  const { config } = context
  http.get(
    '/api/getAllRegistrations',
    {
      onRequest: requireAdmin(context),
      schema: { querystring: querySchema, response: { 200: z.union([adminRegistrationsSchema, z.string()]) } },
    },
    async (request, reply) => {
      const { format, limit, ...filter } = request.query
      const page = (size: number | undefined, cursor = filter.cursor) => {
        const asked = Object.entries({ ...filter, limit: size, cursor }).filter(([, value]) => value !== undefined)
        const query = new URLSearchParams(asked.map(([name, value]) => [name, String(value)]))
        return adminRegistrationsView(services, query, config.ADMIN_SECRET)
      }
      if (format === 'json') return page(limit)

      // An export without a limit is of all that there is, a page at a time.
      async function* rest(first: AdminRegistrations): AsyncGenerator<AdminRegistrations> {
        for (let next = first; ; next = await page(pageOfExport, next.nextCursor ?? undefined)) {
          yield next
          if (limit !== undefined || next.nextCursor === null) return
        }
      }
      const csv = registrationsCsv(rest(await page(limit ?? pageOfExport)))
      return (
        reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="registrations.csv"')
          // A stream is sent as it is; the schema's types only know what it comes to.
          .send(csv as unknown as string)
      )
    },
  )
}

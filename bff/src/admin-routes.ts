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
/** Enrollment's maximum. */
const exportPageSize = 500

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
        const parameters = Object.entries({ ...filter, limit: size, cursor }).filter(([, value]) => value !== undefined)
        const query = new URLSearchParams(parameters.map(([name, value]) => [name, String(value)]))
        return adminRegistrationsView(services, query, config.ADMIN_SECRET)
      }
      if (format === 'json') return page(limit)

      // Without a limit, the export contains everything, fetched page by page.
      async function* rest(first: AdminRegistrations): AsyncGenerator<AdminRegistrations> {
        for (let next = first; ; next = await page(exportPageSize, next.nextCursor ?? undefined)) {
          yield next
          if (limit !== undefined || next.nextCursor === null) return
        }
      }
      const csv = registrationsCsv(rest(await page(limit ?? exportPageSize)))
      return (
        reply
          .type('text/csv; charset=utf-8')
          .header('content-disposition', 'attachment; filename="registrations.csv"')
          // The stream is sent as it is; the schema's type is that of its content.
          .send(csv as unknown as string)
      )
    },
  )
}

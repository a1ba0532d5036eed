import { adminRegistrationsSchema } from '@robokids/contracts/bff'
import { registrationQuerySchema } from '@robokids/contracts/enrollment'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from './config.ts'
import type { Services } from './upstream.ts'
import { adminRegistrationsView, registrationsCsv } from './views/admin-registrations.ts'

export function adminRoutes(http: Http, { config }: Context<Config>, services: Services): void {
  http.get(
    '/api/getAllRegistrations',
    {
      preHandler: requireAdmin(config.ADMIN_SECRET),
      schema: {
        querystring: registrationQuerySchema.extend({ format: z.enum(['json', 'csv']).default('json') }),
        response: { 200: z.union([adminRegistrationsSchema, z.string()]) },
      },
    },
    async (request, reply) => {
      const { format, ...filter } = request.query
      const query = new URLSearchParams(Object.entries(filter).map(([name, value]) => [name, String(value)]))
      const view = await adminRegistrationsView(services, query, config.ADMIN_SECRET)
      if (format === 'json') return view
      return reply
        .type('text/csv; charset=utf-8')
        .header('content-disposition', 'attachment; filename="registrations.csv"')
        .serializer(String)
        .send(registrationsCsv(view))
    },
  )
}

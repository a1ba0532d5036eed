import { cancelSessionSchema, choiceSchema, classCancellationSchema } from '@robokids/contracts/class-cancellation'
import { uuid } from '@robokids/contracts/fields'
import { requireAdmin } from '@robokids/runtime/admin'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { cancelSession } from './cancel-session.ts'
import { readCancellation } from './read-cancellation.ts'
import { presentChoice } from './read-choice.ts'

const byId = z.object({ id: uuid() })

/** The school's cancellation of a class, and what families choose then. */
export function cancellationRoutes(http: Http, context: Context<Config>): void {
  const onRequest = requireAdmin(context)
  const path = '/admin/class-sessions/:id/cancellation'

  http.get(path, { onRequest, schema: { params: byId, response: { 200: classCancellationSchema } } }, ({ params }) =>
    readCancellation(context.db, params.id),
  )

  http.post(
    path,
    { onRequest, schema: { params: byId, body: cancelSessionSchema, response: { 200: classCancellationSchema } } },
    ({ params, body }) => cancelSession(params.id, body, context),
  )

  http.get('/choices/:id', { schema: { params: byId, response: { 200: choiceSchema } } }, ({ params }) =>
    presentChoice(params.id, context),
  )
}

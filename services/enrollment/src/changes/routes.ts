import {
  cancelSchema,
  changeQuoteSchema,
  changeSchema,
  changesQuerySchema,
  changesSchema,
  correctSchema,
  moveOptionsSchema,
  moveSchema,
  quoteCancelSchema,
  quoteMoveSchema,
  readMoveOptionsSchema,
  withdrawSchema,
} from '@robokids/contracts/changes'
import { registrationSchema } from '@robokids/contracts/enrollment'
import { uuid } from '@robokids/contracts/fields'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { cancelPlaces, quoteCancellation } from './cancel-places.ts'
import { correctRegistration } from './correct-registration.ts'
import { listChanges, movePlaces, quoteMove, readChange, readMoveOptions, withdraw } from './move-places.ts'
import { presentChange } from './write-change.ts'

const byId = z.object({ id: uuid() })

/** What families do with places that they have paid for. */
export function changeRoutes(http: Http, context: Context<Config>): void {
  const ofRegistration = '/registrations/:id'
  http.post(
    `${ofRegistration}/cancellation/quote`,
    { schema: { params: byId, body: quoteCancelSchema, response: { 200: changeQuoteSchema } } },
    ({ params, body }) => quoteCancellation(params.id, body, context),
  )

  http.post(
    `${ofRegistration}/cancellation`,
    { schema: { params: byId, body: cancelSchema, response: { 200: changeSchema } } },
    ({ params, body }) => cancelPlaces(params.id, body, context),
  )

  http.post(
    `${ofRegistration}/move/options`,
    { schema: { params: byId, body: readMoveOptionsSchema, response: { 200: moveOptionsSchema } } },
    ({ params, body }) => readMoveOptions(params.id, body, context),
  )

  http.post(
    `${ofRegistration}/move/quote`,
    { schema: { params: byId, body: quoteMoveSchema, response: { 200: changeQuoteSchema } } },
    ({ params, body }) => quoteMove(params.id, body, context),
  )

  http.post(
    `${ofRegistration}/move`,
    { schema: { params: byId, body: moveSchema, response: { 200: changeSchema } } },
    ({ params, body }) => movePlaces(params.id, body, context),
  )

  http.get(
    `${ofRegistration}/changes`,
    { schema: { params: byId, querystring: changesQuerySchema, response: { 200: changesSchema } } },
    ({ params, query }) => listChanges(params.id, query.ownerId, context),
  )

  http.post(
    `${ofRegistration}/correction`,
    { schema: { params: byId, body: correctSchema, response: { 200: registrationSchema } } },
    ({ params, body }) => correctRegistration(params.id, body, context),
  )

  http.get('/changes/:id', { schema: { params: byId, response: { 200: changeSchema } } }, async ({ params }) =>
    presentChange(await readChange(params.id, context)),
  )

  http.post(
    '/changes/:id/withdraw',
    { schema: { params: byId, body: withdrawSchema, response: { 200: changeSchema } } },
    ({ params, body }) => withdraw(params.id, body, context),
  )
}

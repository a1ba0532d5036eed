import { emptyResponseSchema } from '@robokids/contracts/auth'
import { uuid } from '@robokids/contracts/fields'
import {
  bookMemberClassSchema,
  cancelMemberClassSchema,
  memberClassesSchema,
  memberClassSchema,
  moveMemberClassSchema,
} from '@robokids/contracts/member-classes'
import type { Http } from '@robokids/runtime/http'
import type { Context } from '@robokids/runtime/service'
import { z } from 'zod'
import type { Config } from '../config.ts'
import { bookClass } from './book-class.ts'
import { cancelClass } from './cancel-class.ts'
import { moveClass } from './move-class.ts'
import { readBookable } from './read-classes.ts'

const byUser = z.object({ userId: uuid('This is not the id of an account.') })
const byClass = byUser.extend({ id: uuid('This is not the id of a class.') })

/** The classes of members; each route is for the account that it names. */
export function memberClassRoutes(http: Http, context: Context<Config>): void {
  const path = '/accounts/:userId/member-classes'

  http.get(path, { schema: { params: byUser, response: { 200: memberClassesSchema } } }, ({ params }) =>
    readBookable(params.userId, context),
  )

  http.post(
    path,
    { schema: { params: byUser, body: bookMemberClassSchema, response: { 200: memberClassSchema } } },
    ({ params, body }) => bookClass(params.userId, body, context),
  )

  http.post(
    `${path}/:id/move`,
    { schema: { params: byClass, body: moveMemberClassSchema, response: { 200: memberClassSchema } } },
    ({ params, body }) => moveClass(params.userId, params.id, body, context),
  )

  http.post(
    `${path}/:id/cancel`,
    { schema: { params: byClass, body: cancelMemberClassSchema, response: { 200: emptyResponseSchema } } },
    async ({ params, body }) => {
      await cancelClass(params.userId, params.id, body, context)
      return {}
    },
  )
}

import { and, asc, eq, gt, isNotNull } from 'drizzle-orm'
import { z } from 'zod'
import { describeDevice } from '../devices.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import { devices } from '../schema.ts'
import type { Tokens } from '../tokens.ts'

/** The account's confirmed devices, by key; a page's token is the last key of the one before. */
export const listDevices = (tokens: Tokens) =>
  operation(
    z.object({
      AccessToken: input.accessToken,
      Limit: z.number().int().min(0).max(60).default(60),
      PaginationToken: input.deviceKey.optional(),
    }),
    async (given, { context }) => {
      const { user } = await tokens.authenticate(given.AccessToken)
      const limit = given.Limit === 0 ? 60 : given.Limit
      const after = given.PaginationToken
      const rows = await context.db
        .select()
        .from(devices)
        .where(
          and(
            eq(devices.userId, user.id),
            isNotNull(devices.sealedSrpVerifier),
            after === undefined ? undefined : gt(devices.key, after),
          ),
        )
        .orderBy(asc(devices.key))
        .limit(limit + 1)
      const page = rows.slice(0, limit)
      const last = page.at(-1)
      return {
        Devices: page.map(describeDevice),
        ...(rows.length > limit && last ? { PaginationToken: last.key } : {}),
      }
    },
  )

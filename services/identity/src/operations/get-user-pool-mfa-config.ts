import { z } from 'zod'
import * as input from '../inputs.ts'
import { describeMfa } from '../pool-shapes.ts'
import { findPool } from '../pools.ts'
import { administration } from '../protocol.ts'

export const getUserPoolMfaConfig = administration(z.object({ UserPoolId: input.poolId }), async (given, { context }) =>
  describeMfa(await findPool(given.UserPoolId, context)),
)

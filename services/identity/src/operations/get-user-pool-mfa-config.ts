import { z } from 'zod'
import * as input from '../protocol/inputs.ts'
import { describeMfa } from '../pools/pool-shapes.ts'
import { findPool } from '../pools/pools.ts'
import { administration } from '../protocol/protocol.ts'

export const getUserPoolMfaConfig = administration(z.object({ UserPoolId: input.poolId }), async (given, { context }) =>
  describeMfa(await findPool(given.UserPoolId, context)),
)

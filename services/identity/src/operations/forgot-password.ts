import { padResponseTime } from '@robokids/runtime/response-time'
import { z } from 'zod'
import { issueCode, simulateCode } from '../factors/codes.ts'
import { userDisabled, unknownUser } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { countRequest } from '../limits/limits.ts'
import { clientOf } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { notResettable, noResetDestination, resetDestination } from '../users/reset-password.ts'
import { findUserToReset, lockUser } from '../users/users.ts'

export const forgotPassword = operation(
  z.object({
    ClientId: input.clientId,
    Username: input.username,
    /**
     * Not in the public protocol: the caller's device. One of the account's own is counted apart from unknown callers.
     */
    DeviceKey: input.deviceKey.optional(),
    SecretHash: input.secretHash,
  }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const { Username: name, DeviceKey: deviceKey } = given
    const revealsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    return padResponseTime(context.config.EVEN_ANSWER_MS, async () => {
      await countRequest(call)
      return context.db.transaction(async (tx) => {
        const found = await findUserToReset(tx, pool, name)
        const user = found && (await lockUser(tx, found.id))
        const to = user && (await resetDestination(tx, user, revealsUsers ? undefined : name))
        if (user?.enabled && user.status !== 'FORCE_CHANGE_PASSWORD' && to) {
          return { CodeDeliveryDetails: await issueCode(tx, user, pool, 'password_reset', to, call, deviceKey) }
        }
        if (!revealsUsers) {
          return {
            CodeDeliveryDetails: await simulateCode(tx, pool, 'password_reset', name, user, to, call, deviceKey),
          }
        }
        if (!user) throw unknownUser()
        if (!user.enabled) throw userDisabled()
        throw user.status === 'FORCE_CHANGE_PASSWORD' ? notResettable() : noResetDestination()
      })
    })
  },
)

import { padResponseTime } from '@robokids/runtime/response-time'
import { z } from 'zod'
import { issueCode, simulateCode } from '../factors/codes.ts'
import { userDisabled, invalid, unknownUser } from '../protocol/errors.ts'
import * as input from '../protocol/inputs.ts'
import { countRequest } from '../limits/limits.ts'
import { clientOf } from '../pools/pools.ts'
import { operation } from '../protocol/protocol.ts'
import { signUpDestination } from '../users/sign-up-destination.ts'
import { findUnconfirmed } from '../users/unconfirmed.ts'
import { lockUser } from '../users/users.ts'

export const resendConfirmationCode = operation(
  z.object({ ClientId: input.clientId, Username: input.username, SecretHash: input.secretHash }),
  async (given, call) => {
    const { context } = call
    const client = await clientOf(given, context)
    const { pool, settings } = client
    const name = given.Username
    const revealsUsers = settings.preventUserExistenceErrors === 'LEGACY'
    return padResponseTime(context.config.EVEN_ANSWER_MS, async () => {
      await countRequest(call)
      return context.db.transaction(async (tx) => {
        const { user: found } = await findUnconfirmed(tx, pool, name)
        const user = found && (await lockUser(tx, found.id))
        const to = user && signUpDestination(user, pool)
        if (user?.enabled && user.status === 'UNCONFIRMED' && to) {
          return { CodeDeliveryDetails: await issueCode(tx, user, pool, 'sign_up', to, call) }
        }
        if (!revealsUsers) {
          return { CodeDeliveryDetails: await simulateCode(tx, pool, 'sign_up', name, user, to, call) }
        }
        if (!user) throw unknownUser()
        if (!user.enabled) throw userDisabled()
        if (user.status !== 'UNCONFIRMED') throw invalid('User is already confirmed.')
        throw invalid('Cannot resend codes. Auto verification not turned on.')
      })
    })
  },
)

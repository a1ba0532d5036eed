import { devicePage, pageOfDevices } from '../devices.ts'
import * as input from '../inputs.ts'
import { operation } from '../protocol.ts'
import type { Tokens } from '../tokens.ts'

export const listDevices = (tokens: Tokens) =>
  operation(devicePage.extend({ AccessToken: input.accessToken }), async (given, { context }) => {
    const { user } = await tokens.authenticate(given.AccessToken)
    return pageOfDevices(context.db, user, given)
  })

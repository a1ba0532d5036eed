import { devicePage, pageOfDevices } from '../factors/devices.ts'
import * as input from '../protocol/inputs.ts'
import { operation } from '../protocol/protocol.ts'
import type { Tokens } from '../sign-in/tokens.ts'

export const listDevices = (tokens: Tokens) =>
  operation(devicePage.extend({ AccessToken: input.accessToken }), async (given, { context }) => {
    const { user } = await tokens.authenticate(given.AccessToken)
    return pageOfDevices(context.db, user, given)
  })

import { findDevice, deviceNotFound, openDeviceVerifier } from '../factors/devices.ts'
import { missing, wrongPassword } from '../protocol/errors.ts'
import { complete } from '../sign-in/sign-in.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { issueSrpChallenge, provesExchange } from '../factors/srp-steps.ts'
import { requireAccount, onLockedStep, type Answering } from './answering.ts'

/** The responding device, its verifier, and the sign-in. */
async function deviceOf({ tx, step, responses, call }: Answering) {
  const key = responses['DEVICE_KEY']
  if (!key) throw missing('DEVICE_KEY')
  const progress = requireAccount(step)
  const device = await findDevice(tx, progress.user, key, call.context.config)
  const verifier = device && openDeviceVerifier(device, call.context.config)
  if (!device || !verifier) throw deviceNotFound()
  return { progress, device, verifier }
}

/** Starts a device's SRP exchange. */
export const deviceSrpAuth = onLockedStep(async (answering) => {
  const { tx, step, responses, call } = answering
  const A = responses['SRP_A']
  if (!A) throw missing('SRP_A')
  const { progress, device, verifier } = await deviceOf(answering)
  await endStep(tx, step)
  return issueSrpChallenge(tx, progress, 'DEVICE_PASSWORD_VERIFIER', A, verifier, call, { DEVICE_KEY: device.key })
})

/** A device's SRP proof, the last step of a sign-in. */
export const devicePasswordVerifier = onLockedStep(async (answering) => {
  const { tx, step, responses, call, tokens } = answering
  const { progress, device, verifier } = await deviceOf(answering)
  const claim = { group: device.groupKey, user: device.key }
  const isProven = provesExchange(step, responses, verifier.value, claim, call)
  await endStep(tx, step)
  if (!isProven) return wrongPassword()
  return complete(tx, progress, call, tokens, { secondFactor: progress.state.deviceStands === true })
})

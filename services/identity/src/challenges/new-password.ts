import { userConfirmed } from '@robokids/contracts/identity'
import { setPassword } from '../users/accounts.ts'
import { attributeListSchema, isForAdministrators, readAttributes } from '../users/attributes.ts'
import { changeAttributes } from '../users/change-attributes.ts'
import { invalid, missing } from '../protocol/errors.ts'
import { newPassword, type NewPassword } from '../factors/passwords.ts'
import { missingAttributes, proceed } from '../sign-in/sign-in.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { publishAccount } from '../users/users.ts'
import { accountOf, peek, settle, type Answering, type Challenge } from './answering.ts'

const prefix = 'userAttributes.'
/** Clients send all attributes back, those that are not theirs to say as well. */
const notGiven = ['sub', 'email_verified', 'phone_number_verified']

/** A password of the person's own in place of a temporary one, with the attributes that the account lacks. */
export const newPasswordRequired: Challenge = async (answer) => {
  const typed = answer.responses['NEW_PASSWORD']
  if (!typed) throw missing('NEW_PASSWORD')
  // They have proven the temporary one.
  const { id } = accountOf(await peek(answer)).user
  answer.call.hashing.account = id
  const password = await newPassword(typed, answer.client.pool, answer.call)
  return settle(answer, (answering) => replaceTemporary(answering, password))
}

async function replaceTemporary({ tx, step, responses, call, tokens }: Answering, password: NewPassword) {
  const progress = accountOf(step)
  const { client, user } = progress
  const given = Object.entries(responses)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, Value]) => ({ Name: name.slice(prefix.length), Value }))
    .filter(({ Name }) => !notGiven.includes(Name) && !isForAdministrators(Name))
  const listed = attributeListSchema.safeParse(given)
  if (!listed.success) throw invalid(`${prefix}… are too many or too long.`)
  const attributes = readAttributes(listed.data)
  const [lacking] = missingAttributes(progress).filter((name) => !attributes[name])
  if (lacking !== undefined) throw invalid(`Missing required attribute ${prefix}${lacking}`)
  await endStep(tx, step)
  if (given.length > 0) await changeAttributes(tx, user, client.pool, attributes, call)
  const changed = await setPassword(tx, user, client.pool, password, { status: 'CONFIRMED' }, call)
  await publishAccount(tx, userConfirmed, changed, {})
  return proceed(tx, { ...progress, user: changed }, call, tokens)
}

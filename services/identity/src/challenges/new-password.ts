import { userConfirmed } from '@robokids/contracts/identity'
import { setPassword } from '../users/accounts.ts'
import { attributeListSchema, isForAdministrators, readAttributes } from '../users/attributes.ts'
import { changeAttributes } from '../users/change-attributes.ts'
import { invalid, missing } from '../protocol/errors.ts'
import { newPassword, type NewPassword } from '../factors/passwords.ts'
import { missingAttributes, proceed } from '../sign-in/sign-in.ts'
import { endStep } from '../sign-in/sign-in-steps.ts'
import { publishAccount } from '../users/users.ts'
import { requireAccount, readStep, withLockedStep, type Answering, type Challenge } from './answering.ts'

const prefix = 'userAttributes.'
/** Clients send back all attributes, including those that they may not change. */
const ignoredAttributes = ['sub', 'email_verified', 'phone_number_verified']

/** Replaces a temporary password, and takes the attributes that the account lacks. */
export const newPasswordRequired: Challenge = async (answer) => {
  const typed = answer.responses['NEW_PASSWORD']
  if (!typed) throw missing('NEW_PASSWORD')
  // The client has proven the temporary password, so it gets priority in the queue.
  const { id } = requireAccount(await readStep(answer)).user
  answer.call.hashing.account = id
  const password = await newPassword(typed, answer.client.pool, answer.call)
  return withLockedStep(answer, (answering) => replaceTemporary(answering, password))
}

async function replaceTemporary({ tx, step, responses, call, tokens }: Answering, password: NewPassword) {
  const progress = requireAccount(step)
  const { client, user } = progress
  const given = Object.entries(responses)
    .filter(([name]) => name.startsWith(prefix))
    .map(([name, Value]) => ({ Name: name.slice(prefix.length), Value }))
    .filter(({ Name }) => !ignoredAttributes.includes(Name) && !isForAdministrators(Name))
  const listed = attributeListSchema.safeParse(given)
  if (!listed.success) throw invalid(`${prefix}… are too many or too long.`)
  const attributes = readAttributes(listed.data)
  const [missingName] = missingAttributes(progress).filter((name) => !attributes[name])
  if (missingName !== undefined) throw invalid(`Missing required attribute ${prefix}${missingName}`)
  await endStep(tx, step)
  if (given.length > 0) await changeAttributes(tx, user, client.pool, attributes, call)
  const changed = await setPassword(tx, user, client.pool, password, { status: 'CONFIRMED' }, call)
  await publishAccount(tx, userConfirmed, changed, {})
  return proceed(tx, { ...progress, user: changed }, call, tokens)
}

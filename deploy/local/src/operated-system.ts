import { systemSchema, type SystemIdentity } from '@robokids/contracts/system'
import { localAdminSecret, readSettingFiles } from '@robokids/runtime/config'
import { perService, portSetting, urlSetting, type ServiceName } from './services.ts'
import { localSystemName, readSettings } from './settings.ts'

/** An error whose message is shown to the operator. */
export class OperatorError extends Error {}

const secrets = ['ADMIN_SECRET', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']
const { env, problems } = readSettingFiles(secrets, process.env)
const settings = readSettings(env)
/** URLs of the processes: those of `npm start`, unless the environment says otherwise. */
export const addresses: Record<ServiceName, string> = {
  bff: env['SITE_URL'] ?? `http://localhost:${settings.PORT}`,
  ...perService((name) => env[urlSetting(name)] ?? `http://127.0.0.1:${settings[portSetting(name)]}`),
}

/**
 * Returns a secret from the environment, or from the file that the variable with `_FILE` names; for this machine, by default
 * that of `npm start`.
 * @throws OperatorError for a remote process without a secret
 */
export function secretFor(name: ServiceName, variable: string, local: string): string {
  const problem = problems.find((one) => one.name === variable)
  if (problem) throw new OperatorError(problem.reason)
  const given = env[variable]
  if (given !== undefined && given !== '') return given
  const host = URL.parse(addresses[name])?.hostname ?? ''
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)) return local
  throw new OperatorError(`${name} is at ${addresses[name]}, which is not this machine: set ${variable}.`)
}

/** Calls a process as an administrator. @throws OperatorError with the error response, or if it does not answer */
export async function request(
  name: ServiceName,
  method: 'GET' | 'POST',
  path: string,
  body?: unknown,
): Promise<Response> {
  const headers = {
    'x-admin-secret': secretFor(name, 'ADMIN_SECRET', localAdminSecret),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  const answer = await fetch(addresses[name] + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  }).catch((error: unknown) => {
    throw new OperatorError(
      `${name} does not answer at ${addresses[name]} (${String((error as Error).cause ?? error)})`,
    )
  })
  if (answer.ok) return answer
  const error = (await answer.json().catch(() => ({}))) as { code?: string; message?: string }
  const words = `${error.code ?? answer.status}: ${error.message ?? answer.statusText}`
  throw new OperatorError(`${words} (${name} at ${addresses[name]})`)
}

/** Calls a process as an administrator and parses the JSON response. @throws OperatorError */
export async function json(...call: Parameters<typeof request>): Promise<unknown> {
  return (await request(...call)).json()
}

async function fetchSystem(name: ServiceName): Promise<SystemIdentity> {
  const answer = await json(name, 'GET', '/admin/system').catch((error: unknown) => {
    // Not JSON: the page of another program.
    if (error instanceof SyntaxError) return undefined
    throw error
  })
  const identity = systemSchema.safeParse(answer)
  if (!identity.success)
    throw new OperatorError(`What answers at ${addresses[name]} does not say what system it belongs to.`)
  if (identity.data.process !== name)
    throw new OperatorError(`${identity.data.process} answers at ${addresses[name]}, where ${name} should be.`)
  return identity.data
}

/** Calls several processes. Failures are printed and left out, and set exit code 1. */
export async function askEach<Answer>(
  names: readonly ServiceName[],
  ask: (name: ServiceName) => Promise<Answer>,
): Promise<Map<ServiceName, Answer>> {
  const answers = await Promise.allSettled(names.map(ask))
  const given = new Map<ServiceName, Answer>()
  for (const [index, name] of names.entries()) {
    const answer = answers[index]
    if (answer?.status === 'fulfilled') given.set(name, answer.value)
    else if (!(answer?.reason instanceof OperatorError)) throw answer?.reason
    else {
      console.error(answer.reason.message)
      process.exitCode = 1
    }
  }
  return given
}

/**
 * Prints on stderr which system a command is for, before it does anything.
 * @param changes whether the command changes something, which is allowed only in the system named by `SYSTEM_NAME`, by
 * default the one of `npm start`
 * @returns the processes that answered
 * @throws OperatorError if none did, or if they belong to another system or to several
 */
export async function identify(names: readonly ServiceName[], { changes = false } = {}): Promise<ServiceName[]> {
  const systems = await askEach(names, fetchSystem)
  if (systems.size === 0) throw new OperatorError('Nothing was done.')
  const answered = [...systems.keys()]
  const systemGroups = Map.groupBy(
    answered,
    (name) => `${systems.get(name)?.system} (${systems.get(name)?.environment})`,
  )
  for (const [system, there] of systemGroups)
    console.error(`${system}: ${there.map((name) => `${name} at ${addresses[name]}`).join(', ')}`)
  if (systemGroups.size > 1) throw new OperatorError('These belong to more than one system.')
  const intended = env['SYSTEM_NAME'] ?? localSystemName(settings)
  if (changes && systems.values().some(({ system }) => system !== intended))
    throw new OperatorError(`Nothing was changed: that is not "${intended}". Set SYSTEM_NAME to the one that you mean.`)
  return answered
}

import { systemSchema, type SystemIdentity } from '@robokids/contracts/system'
import { localAdminSecret } from '@robokids/runtime/config'
import { perService, portSetting, urlSetting, type ServiceName } from './services.ts'
import { localSystemName, readSettings } from './settings.ts'

/** What an operator is told instead of an answer. */
export class Refused extends Error {}

const env = process.env
const settings = readSettings(env)
/** Where the processes are: of the system that `npm start` runs, unless the environment says otherwise. */
export const addresses: Record<ServiceName, string> = {
  bff: env['SITE_URL'] ?? `http://localhost:${settings.PORT}`,
  ...perService((name) => env[urlSetting(name)] ?? `http://127.0.0.1:${settings[portSetting(name)]}`),
}

/**
 * A secret from the environment. That of `npm start` stands in for it on this machine alone.
 * @throws Refused where a process elsewhere is meant and no secret is given.
 */
export function secretFor(name: ServiceName, variable: string, local: string): string {
  const given = env[variable]
  if (given !== undefined && given !== '') return given
  const host = URL.parse(addresses[name])?.hostname ?? ''
  if (/^(localhost|127(\.\d+){3}|\[::1\])$/.test(host)) return local
  throw new Refused(`${name} is at ${addresses[name]}, which is not this machine: set ${variable}.`)
}

/** Calls a process as an administrator. @throws Refused in its words, or where it does not answer. */
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
    throw new Refused(`${name} does not answer at ${addresses[name]} (${String((error as Error).cause ?? error)})`)
  })
  if (answer.ok) return answer
  const refusal = (await answer.json().catch(() => ({}))) as { code?: string; message?: string }
  const words = `${refusal.code ?? answer.status}: ${refusal.message ?? answer.statusText}`
  throw new Refused(`${words} (${name} at ${addresses[name]})`)
}

/** Calls a process as an administrator, for JSON. @throws Refused */
export async function json(...call: Parameters<typeof request>): Promise<unknown> {
  return (await request(...call)).json()
}

async function askSystem(name: ServiceName): Promise<SystemIdentity> {
  const answer = await json(name, 'GET', '/admin/system').catch((error: unknown) => {
    // Some other program's page.
    if (error instanceof SyntaxError) return undefined
    throw error
  })
  const identity = systemSchema.safeParse(answer)
  if (!identity.success) throw new Refused(`What answers at ${addresses[name]} does not say what system it belongs to.`)
  if (identity.data.process !== name)
    throw new Refused(`${identity.data.process} answers at ${addresses[name]}, where ${name} should be.`)
  return identity.data
}

/** Asks several processes. One that refuses, or does not answer, is told and left out, and the command ends with 1. */
export async function askEach<Answer>(
  names: readonly ServiceName[],
  ask: (name: ServiceName) => Promise<Answer>,
): Promise<Map<ServiceName, Answer>> {
  const answers = await Promise.allSettled(names.map(ask))
  const given = new Map<ServiceName, Answer>()
  for (const [index, name] of names.entries()) {
    const answer = answers[index]
    if (answer?.status === 'fulfilled') given.set(name, answer.value)
    else if (!(answer?.reason instanceof Refused)) throw answer?.reason
    else {
      console.error(answer.reason.message)
      process.exitCode = 1
    }
  }
  return given
}

/**
 * Says which system a command is for before it does anything, on the error output: what is printed stays what was asked for.
 * @param changes whether it changes anything, which it may only in the system that is meant: `SYSTEM_NAME`, or without it
 * the one that `npm start` runs here.
 * @returns the processes that answered, which are all that the command can be for.
 * @throws Refused where none did, or where they belong to another system, or to more than one.
 */
export async function identify(names: readonly ServiceName[], { changes = false } = {}): Promise<ServiceName[]> {
  const systems = await askEach(names, askSystem)
  if (systems.size === 0) throw new Refused('Nothing was done.')
  const answered = [...systems.keys()]
  const places = Map.groupBy(answered, (name) => `${systems.get(name)?.system} (${systems.get(name)?.environment})`)
  for (const [system, there] of places)
    console.error(`${system}: ${there.map((name) => `${name} at ${addresses[name]}`).join(', ')}`)
  if (places.size > 1) throw new Refused('These belong to more than one system.')
  const meant = env['SYSTEM_NAME'] ?? localSystemName(settings)
  if (changes && systems.values().some(({ system }) => system !== meant))
    throw new Refused(`Nothing was changed: that is not "${meant}". Set SYSTEM_NAME to the one that you mean.`)
  return answered
}

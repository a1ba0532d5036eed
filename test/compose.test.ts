import { execFile } from 'node:child_process'
import { randomUUIDv7 } from 'node:crypto'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { classesViewSchema, registerResponseSchema, registrationViewSchema } from '@robokids/contracts/bff'
import { fetchProven } from '@robokids/local/prove'
import { owningServices } from '@robokids/local/services'
import { root } from '@robokids/local/settings'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from './src/bed.ts'
import { Browser } from './src/browser.ts'
import { missingForContainers, startComposedSystem, type ComposedSystem } from './src/composed-system.ts'
import { sampleFamily, sampleMember } from './src/samples.ts'

/**
 * The whole system in containers as in production, with two copies of each process behind the proxy:
 * TEST_INFRA=containers npm test -- test/compose.test.ts
 */

const run = promisify(execFile)
const processes = [...owningServices, 'bff']
const missing = await missingForContainers()

interface Mail {
  subject: string
  text: string
}

describe.skipIf(missing !== undefined)(`The system in containers${missing ? ` (${missing})` : ''}`, () => {
  let system: ComposedSystem
  beforeAll(async () => {
    system = await startComposedSystem(2)
  }, 900_000)
  afterAll(() => system?.stop(), 120_000)

  const headers = { 'content-type': 'application/json', 'x-api-key': 'robokids-web' }
  async function post(path: string, body: unknown): Promise<{ status: number; body: unknown }> {
    const answer = await fetchProven(system.siteUrl + path, {
      method: 'POST',
      headers: { ...headers, origin: system.siteUrl },
      body: JSON.stringify(body),
    })
    return { status: answer.status, body: await answer.json() }
  }
  /** Classes with a seat, the emptiest first. */
  async function openClasses() {
    const view = classesViewSchema.parse(await (await fetch(`${system.siteUrl}/api/classes`)).json())
    return view.levels
      .flatMap(({ classType, sessions }) => sessions.map(({ date, seatsLeft }) => ({ classType, date, seatsLeft })))
      .filter(({ seatsLeft }) => seatsLeft > 0)
      .toSorted((a, b) => b.seatsLeft - a.seatsLeft)
  }
  const family = (classType: string, startDate: string) => ({
    ...sampleFamily(),
    email: `${randomUUIDv7()}@example.com`,
    classType,
    startDate,
  })
  async function register(registration: ReturnType<typeof family>) {
    const { status, body } = await post('/api/registrations', registration)
    if (status !== 200) throw new Error(`registration was answered ${status}: ${JSON.stringify(body)}`)
    return { ...registerResponseSchema.parse(body), email: registration.email }
  }
  async function pay(checkoutUrl: string): Promise<void> {
    const id = new URL(checkoutUrl).pathname.split('/').at(-1)
    const answer = await fetch(`${system.simulatorUrl}/_sim/checkout/${id}/pay`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ card: '4242424242424242' }),
    })
    expect(await answer.json()).toMatchObject({ status: 'paid' })
  }
  async function statusOf(registrationId: string) {
    const answer = await fetch(`${system.siteUrl}/api/registrations/${registrationId}`)
    return registrationViewSchema.parse(await answer.json()).status
  }
  async function mailsTo(address: string): Promise<Mail[]> {
    const query = new URLSearchParams({ 'to.address': address })
    return (await (await fetch(`${system.mailboxUrl}/email?${query}`)).json()) as Mail[]
  }
  async function charges(): Promise<number> {
    const state = (await (await fetch(`${system.simulatorUrl}/_sim/state`)).json()) as { charges: { total: number } }
    return state.charges.total
  }

  it('serves the main flow, from a page to the signed waiver in the mailbox', async () => {
    const smoke = join(root, 'deploy/local/src/smoke.ts')
    expect((await run(process.execPath, [smoke], { env: system.environment })).stdout).toContain('enrollment works')
  })

  it('gives the last ten seats to ten of 60 families', async () => {
    const [emptiest] = await openClasses()
    expect(emptiest?.seatsLeft).toBe(10)
    const answers = await Promise.all(
      Array.from({ length: 60 }, () =>
        post('/api/registrations', family(emptiest?.classType ?? '', emptiest?.date ?? '')),
      ),
    )
    const count = (wanted: number) => answers.filter(({ status }) => status === wanted).length
    expect([count(200), count(409)]).toEqual([10, 50])
  })

  it('keeps a visitor signed in at whichever copy answers', async () => {
    const visitor = new Browser(system.siteUrl)
    const email = `maren.${randomUUIDv7()}@example.com`
    expect((await visitor.post('/api/auth/sign-up', sampleMember(email))).status).toBe(200)
    const mail = await eventually(async () => (await mailsTo(email))[0])
    const code = /\b\d{6}\b/.exec(mail.text)?.[0]
    expect((await visitor.post('/api/auth/confirm-sign-up', { email, code })).body).toEqual({ signedIn: true })
    for (let nth = 0; nth < 20; nth += 1)
      expect((await visitor.get('/api/auth/session')).body['user']).toMatchObject({ email })
  })

  it('updates an open page when the payment arrives, whichever copy hears of it', async () => {
    const [open] = await openClasses()
    const pages = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const { registrationId, checkoutUrl } = await register(family(open?.classType ?? '', open?.date ?? ''))
        const stream = await fetch(`${system.siteUrl}/api/registrations/${registrationId}/events`)
        expect(stream.headers.get('content-type')).toContain('text/event-stream')
        return { checkoutUrl, stream }
      }),
    )
    await Promise.all(
      pages.map(async ({ checkoutUrl, stream }) => {
        await pay(checkoutUrl)
        let text = ''
        for await (const chunk of stream.body?.pipeThrough(new TextDecoderStream()) ?? []) {
          text += chunk
          if (text.includes('"confirmed"')) return
        }
        throw new Error(`the stream ended before the confirmation: ${text}`)
      }),
    )
  })

  it('tells an operator what is waiting, by its own admin command', async () => {
    const output = await system.compose('run', '--rm', '-T', 'admin', 'waiting')
    for (const service of owningServices) expect(output).toMatch(new RegExp(`^${service} +0 `, 'm'))
  })

  /** Reads and registers until `work` is done, and at least `least` requests long. @returns what failed, and who registered */
  async function load(work: Promise<unknown>, least: number) {
    let isDone = false
    const done = work.finally(() => (isDone = true))
    // Handled below: the load goes on until it is known.
    done.catch(() => {})
    const failures: string[] = []
    const families: { registrationId: string; email: string }[] = []
    const classes = await openClasses()
    let count = 0
    const goesOn = () => !isDone || count < least
    async function read(path: string) {
      while (goesOn()) {
        count += 1
        const problem = await fetch(system.siteUrl + path, { headers })
          .then(async (answer) => {
            await answer.arrayBuffer()
            return answer.ok ? undefined : `${path} was answered ${answer.status}`
          })
          .catch((error: unknown) => `${path}: ${String((error as Error).cause ?? error)}`)
        if (problem !== undefined) failures.push(problem)
      }
    }
    async function enroll() {
      for (let nth = 0; goesOn() && families.length < 8; nth += 1) {
        const open = classes[nth % classes.length]
        const registration = family(open?.classType ?? '', open?.date ?? '')
        count += 1
        try {
          const { registrationId, checkoutUrl, email } = await register(registration)
          await pay(checkoutUrl)
          families.push({ registrationId, email })
        } catch (error) {
          failures.push(String(error))
        }
        await new Promise((resolve) => setTimeout(resolve, 1_000))
      }
    }
    const paths = ['/api/classes', '/robokidslanding', '/api/availableSlots?classType=basic', '/waiver.pdf']
    await Promise.all([...paths, ...paths].map(read).concat(enroll()))
    await done
    return { failures, families, count }
  }

  it.each(processes)(
    'drops no request and doubles no effect while each copy of %s is replaced',
    async (name) => {
      const [before, chargesBefore] = [await system.copiesOf(name), await charges()]
      const { failures, families, count } = await load(system.rollOut(name), 1_500)
      process.stderr.write(`${name}: ${count} requests, ${families.length} registrations, ${failures.length} failed\n`)
      expect(failures).toEqual([])
      expect(new Set([...before, ...(await system.copiesOf(name))]).size).toBe(4)
      for (const { registrationId, email } of families) {
        await eventually(async () => (await statusOf(registrationId)) === 'confirmed', 60_000)
        const mails = await eventually(async () => {
          const found = await mailsTo(email)
          return found.length > 0 && found
        }, 60_000)
        expect(new Set(mails.map(({ subject }) => subject)).size).toBe(mails.length)
      }
      expect((await charges()) - chargesBefore).toBe(families.length)
    },
    300_000,
  )

  it.each(processes)(
    'answers every read while a copy of %s is killed, and completes what it was doing',
    async (name) => {
      const [victim = ''] = await system.copiesOf(name)
      const { failures, families } = await load(system.docker('kill', victim), 300)
      // A change that the killed copy was making is answered as unavailable, and the family tries again.
      expect(failures.filter((failure) => !failure.includes('registration was answered 50'))).toEqual([])
      for (const { registrationId } of families)
        await eventually(async () => (await statusOf(registrationId)) === 'confirmed', 60_000)
      await system.docker('start', victim)
      const health = async () => (await system.docker('inspect', '-f', '{{.State.Health.Status}}', victim)).trim()
      await eventually(async () => (await health()) === 'healthy', 60_000)
    },
    300_000,
  )
})

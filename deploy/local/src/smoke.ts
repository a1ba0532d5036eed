import { randomUUIDv7 } from 'node:crypto'
import { fetchProven } from './prove.ts'
import { readSettings } from './settings.ts'

/**
 * `npm run smoke`: enrolls one family over HTTP in a running system, from finding a date to the signed waiver in the
 * mailbox. It needs the payment simulator and the mail catcher, as `npm start` and docker-compose have them.
 */
const settings = readSettings(process.env)
const site = process.env['SITE_URL'] ?? `http://localhost:${settings.PORT}`
const simulator = process.env['STRIPE_SIMULATOR_URL'] ?? `http://localhost:${settings.STRIPE_SIMULATOR_PORT}`
const mailbox = process.env['MAILBOX_URL'] ?? `http://localhost:${settings.MAILBOX_PORT}`

const timeoutMs = 60_000

async function ask<Answer>(url: string, body?: unknown): Promise<Answer> {
  const answer = await fetchProven(url, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': 'robokids-web' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}: ${await answer.text()}`)
  return (await answer.json()) as Answer
}

async function eventually<Found>(what: string, find: () => Promise<Found | undefined>): Promise<Found> {
  const deadline = performance.now() + timeoutMs
  let problem: unknown
  while (performance.now() < deadline) {
    const found = await find().catch((error: unknown) => {
      problem = error
      return undefined
    })
    if (found !== undefined) {
      console.log(`✓ ${what}`)
      return found
    }
    await new Promise((resolve) => setTimeout(resolve, 250))
  }
  throw new Error(`${what}: not within ${timeoutMs / 1000} s`, { cause: problem })
}

interface Mail {
  subject: string
  to: { address: string }[]
  attachments?: { contentType: string }[]
}

const email = `smoke+${randomUUIDv7()}@example.com`
const mailWith = (type: string) =>
  eventually(`a mail with ${type}`, async () => {
    const mails = await ask<Mail[]>(`${mailbox}/email`)
    return mails.find(
      (mail) =>
        mail.to.some(({ address }) => address === email) &&
        mail.attachments?.some(({ contentType }) => contentType.startsWith(type)),
    )
  })

try {
  await eventually('the landing page', async () => {
    const page = await fetch(`${site}/robokidslanding`, { headers: { accept: 'text/html' } })
    return page.ok ? page : undefined
  })

  const session = await eventually('a class with a seat', async () => {
    const view = await ask<{ levels: { classType: string; sessions: { date: string; seatsLeft: number }[] }[] }>(
      `${site}/api/classes`,
    )
    for (const { classType, sessions } of view.levels) {
      const open = sessions.find(({ seatsLeft }) => seatsLeft > 0)
      if (open) return { classType, date: open.date }
    }
    return undefined
  })

  const family = {
    id: randomUUIDv7(),
    guardianName: 'Maren Holt',
    childName: 'Ivo',
    childAge: 12,
    email,
    addressLine1: '14 Alder Way',
    city: 'San Mateo',
    state: 'CA',
    zipCode: '94401',
    startDate: session.date,
    classType: session.classType,
  }
  const { checkoutUrl, registrationId } = await ask<{ checkoutUrl: string; registrationId: string }>(
    `${site}/api/registrations`,
    family,
  )
  console.log(`✓ a seat is held: ${registrationId}`)

  const checkout = new URL(checkoutUrl).pathname.split('/').at(-1)
  const paid = await ask<{ status: string; message: string }>(`${simulator}/_sim/checkout/${checkout}/pay`, {
    card: '4242424242424242',
  })
  if (paid.status !== 'paid') throw new Error(`the payment ended as ${paid.status}: ${paid.message}`)
  console.log('✓ the simulator took 4242 4242 4242 4242')

  const status = (wanted: string) =>
    eventually(`the registration is ${wanted}`, async () => {
      const view = await ask<{ status: string }>(`${site}/api/registrations/${registrationId}`)
      return view.status === wanted ? view : undefined
    })
  await status('confirmed')
  await mailWith('text/calendar')
  await ask(`${site}/api/waivers`, { ...family, registrationId })
  await status('waiver_signed')
  await mailWith('application/pdf')
  console.log('The whole enrollment works.')
} catch (error) {
  console.error(error)
  process.exit(1)
}

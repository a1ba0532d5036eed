import fastifyCookie from '@fastify/cookie'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from './config.ts'

/** Sealed with AES-256-GCM, and unreadable to scripts: what the browser keeps for us without knowing it. */
interface SealedCookie<Content> {
  /** @returns undefined where there is none, or none of ours, or one whose time is over. */
  read(request: FastifyRequest): Content | undefined
  write(reply: FastifyReply, content: Content): void
  clear(reply: FastifyReply): void
  /** Seals it under the newest key where it is under an older one, so that this one can be taken out some day. */
  reseal(request: FastifyRequest, reply: FastifyReply): void
}

/** Until when a cookie's content counts is in the content itself: browsers keep cookies for as long as they like. */
function sealedCookie<Content extends { until: number }>(
  name: string,
  content: z.ZodType<Content>,
  config: Config,
  now: () => number,
): SealedCookie<Content> {
  const secure = config.SITE_URL.startsWith('https:')
  const fullName = secure ? `__Host-${name}` : name
  const options = { path: '/', httpOnly: true, sameSite: 'lax', secure } as const
  const cookie: SealedCookie<Content> = {
    read(request) {
      const opened = config.SESSION_KEYS.open(request.cookies[fullName] ?? '', name)
      if (!opened) return undefined
      const read = content.safeParse(JSON.parse(opened.toString()))
      return read.success && read.data.until > now() ? read.data : undefined
    },
    write(reply, value) {
      const maxAge = Math.max(0, Math.floor((value.until - now()) / 1000))
      void reply.setCookie(fullName, config.SESSION_KEYS.seal(JSON.stringify(value), name), { ...options, maxAge })
    },
    clear(reply) {
      void reply.clearCookie(fullName, options)
    },
    reseal(request, reply) {
      const sealed = request.cookies[fullName]
      if (sealed === undefined || sealed.startsWith(`${config.SESSION_KEYS.newest}.`)) return
      const content = cookie.read(request)
      if (content) cookie.write(reply, content)
    },
  }
  return cookie
}

const sessionSchema = z.object({
  accessToken: z.string(),
  refreshToken: z.string(),
  userId: z.string(),
  username: z.string(),
  /** When somebody signed in, and when that ends, in milliseconds. */
  since: z.number(),
  until: z.number(),
})
export type SignInSession = z.infer<typeof sessionSchema>

const stepSchema = z.object({
  /** The name that the identity service's step is answered by. */
  username: z.string(),
  /** The identity service's name for the step; for those of ours, what they lead to. */
  challenge: z.string(),
  session: z.string(),
  /** For what the step asks of the person: a choice, a code, … by the name that the browser was told. */
  step: z.string(),
  /** The `userId` of who was signed in when it was begun, where that person signs in again. */
  again: z.string().optional(),
  until: z.number(),
})
export type StepCookie = z.infer<typeof stepSchema>

const newcomerSchema = z.object({
  username: z.string(),
  email: z.string(),
  password: z.string(),
  until: z.number(),
})

const confirmingSchema = z.object({ username: z.string(), email: z.string(), until: z.number() })

/** A browser's devices: of a household, two people share one. */
const mostDevices = 2

const deviceSchema = z.object({
  /** What its person signs in by, in small letters. */
  names: z.array(z.string()),
  key: z.string(),
  group: z.string(),
  secret: z.string(),
  until: z.number(),
})
export type DeviceCookie = z.infer<typeof deviceSchema>

/** The newest one is where processes of the version before look for the only one. */
const devicesSchema = deviceSchema.extend({ others: z.array(deviceSchema).default([]) })

const browserSchema = z.object({ id: z.uuid(), until: z.number() })

/** As long as the code of a sign-up lives. */
export const confirmingMs = 24 * 3_600_000

/** How long a step of a sign-in, and the wait for a confirmation, are kept. */
export const stepMs = 180_000

export interface Cookies {
  /** Who is signed in. */
  signInSession: SealedCookie<SignInSession>
  /** A sign-in between two steps. */
  step: SealedCookie<StepCookie>
  /** Who signed up a moment ago, to be signed in when the account is confirmed. */
  newcomer: SealedCookie<z.infer<typeof newcomerSchema>>
  /** Which account was signed up here: others may have given the same address, and it is this one that is confirmed. */
  confirming: SealedCookie<z.infer<typeof confirmingSchema>>
  devices: DevicesCookie
  /** Which browser this is, from its first purchase on: what was bought in it, it may see and change. */
  browser: SealedCookie<z.infer<typeof browserSchema>>
}

/** Which devices this browser is, one of each person's own, the newest first. They stay when somebody signs out. */
interface DevicesCookie {
  read(request: FastifyRequest): DeviceCookie[]
  /** The one of whoever has this name. */
  of(request: FastifyRequest, name: string): DeviceCookie | undefined
  /** Keeps the device of who has its `names`, by the account's own first, in place of another one of theirs. */
  keep(request: FastifyRequest, reply: FastifyReply, device: DeviceCookie): void
  drop(request: FastifyRequest, reply: FastifyReply, key: string): void
}

function devicesCookie(cookie: SealedCookie<z.infer<typeof devicesSchema>>, now: () => number): DevicesCookie {
  const read = (request: FastifyRequest): DeviceCookie[] => {
    const kept = cookie.read(request)
    if (!kept) return []
    const { others, ...newest } = kept
    return [newest, ...others.filter(({ until }) => until > now())]
  }
  const write = (reply: FastifyReply, [newest, ...others]: DeviceCookie[]) => {
    if (newest) cookie.write(reply, { ...newest, others: others.slice(0, mostDevices - 1) })
    else cookie.clear(reply)
  }
  return {
    read,
    of: (request, name) => read(request).find(({ names }) => names.includes(name.toLowerCase())),
    keep(request, reply, device) {
      // An address that was somebody else's is not any more.
      const others = read(request)
        .filter(({ names }) => names[0] !== device.names[0])
        .map((other) => ({ ...other, names: other.names.filter((name) => !device.names.includes(name)) }))
      write(reply, [device, ...others])
    },
    drop(request, reply, key) {
      write(
        reply,
        read(request).filter((device) => device.key !== key),
      )
    },
  }
}

export async function registerCookies(http: Http, config: Config, now: () => number): Promise<Cookies> {
  await http.register(fastifyCookie)
  const signInSession = sealedCookie('robokids-session', sessionSchema, config, now)
  const device = sealedCookie('robokids-device', devicesSchema, config, now)
  const browser = sealedCookie('robokids-browser', browserSchema, config, now)
  // They live for a year and are seldom written; a session is written at each renewal.
  http.addHook('onRequest', async (request, reply) => {
    device.reseal(request, reply)
    browser.reseal(request, reply)
  })
  return {
    signInSession: {
      ...signInSession,
      write(reply, content) {
        // Processes of the version before read no session without an address.
        const readable = { ...content, email: '' }
        signInSession.write(reply, readable)
      },
    },
    step: sealedCookie('robokids-sign-in', stepSchema, config, now),
    newcomer: sealedCookie('robokids-sign-up', newcomerSchema, config, now),
    confirming: sealedCookie('robokids-confirm', confirmingSchema, config, now),
    devices: devicesCookie(device, now),
    browser,
  }
}

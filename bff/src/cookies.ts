import fastifyCookie from '@fastify/cookie'
import type { Http } from '@robokids/runtime/http'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Config } from './config.ts'

/** A cookie whose content is sealed with AES-256-GCM and not readable by scripts. */
interface SealedCookie<Content> {
  /** @returns undefined if there is none, or it is invalid or expired. */
  read(request: FastifyRequest): Content | undefined
  write(reply: FastifyReply, content: Content): void
  clear(reply: FastifyReply): void
  /** Seals it again if it is not sealed with the newest key, so that older keys can be removed some day. */
  reseal(request: FastifyRequest, reply: FastifyReply): void
}

/** The expiry is part of the content, because browsers need not delete expired cookies. */
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
  /** When the user signed in, and when the session ends, in milliseconds. */
  since: z.number(),
  until: z.number(),
})
export type SignInSession = z.infer<typeof sessionSchema>

const stepSchema = z.object({
  /** The username for responding to the challenge. */
  username: z.string(),
  /** The identity service's name of the challenge; for the BFF's own steps, the challenge that follows. */
  challenge: z.string(),
  /** The challenge's `Session`, not a sign-in session. */
  session: z.string(),
  /** The step's name in the browser. */
  step: z.string(),
  /** The `userId` of the signed-in user who signs in again. */
  again: z.string().optional(),
  until: z.number(),
})
export type StepCookie = z.infer<typeof stepSchema>

const pendingSignUpSchema = z.object({
  username: z.string(),
  email: z.string(),
  password: z.string(),
  until: z.number(),
})

const pendingConfirmationSchema = z.object({ username: z.string(), email: z.string(), until: z.number() })

/** A browser may be shared by two people of a household. */
const maxDevices = 2

const deviceSchema = z.object({
  /** The names that its user signs in with, in lower case. */
  names: z.array(z.string()),
  key: z.string(),
  group: z.string(),
  secret: z.string(),
  until: z.number(),
})
export type DeviceCookie = z.infer<typeof deviceSchema>

/** The newest device has the place of the only one in the previous version. */
const devicesSchema = deviceSchema.extend({ others: z.array(deviceSchema).default([]) })

const browserSchema = z.object({ id: z.uuid(), until: z.number() })

/** The lifetime of a sign-up's code. */
export const pendingConfirmationMs = 24 * 3_600_000

/** The lifetime of a sign-in step, and of a pending sign-up. */
export const stepMs = 180_000

export interface Cookies {
  /** The signed-in user. */
  signInSession: SealedCookie<SignInSession>
  /** A sign-in between two steps. */
  step: SealedCookie<StepCookie>
  /** A user who has just signed up, to be signed in once the account is confirmed. */
  pendingSignUp: SealedCookie<z.infer<typeof pendingSignUpSchema>>
  /** The account that signed up here, which is the one to confirm: others may have given the same email. */
  pendingConfirmation: SealedCookie<z.infer<typeof pendingConfirmationSchema>>
  devices: DevicesCookie
  /** Identifies the browser from its first purchase on: it may see and change what was bought in it. */
  browser: SealedCookie<z.infer<typeof browserSchema>>
}

/** The devices that this browser is, one per user, newest first. They outlive a sign-out. */
interface DevicesCookie {
  read(request: FastifyRequest): DeviceCookie[]
  /** The device of the user with this name. */
  of(request: FastifyRequest, name: string): DeviceCookie | undefined
  /** Stores the device of the user with its `names` (the username first), replacing an older one of the same user. */
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
    if (newest) cookie.write(reply, { ...newest, others: others.slice(0, maxDevices - 1) })
    else cookie.clear(reply)
  }
  return {
    read,
    of: (request, name) => read(request).find(({ names }) => names.includes(name.toLowerCase())),
    keep(request, reply, device) {
      // An email that another user had belongs to this one now.
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
  // These live for a year and are rarely written; a session is written at each renewal.
  http.addHook('onRequest', async (request, reply) => {
    device.reseal(request, reply)
    browser.reseal(request, reply)
  })
  return {
    signInSession: {
      ...signInSession,
      write(reply, content) {
        // Processes of the previous version require an email.
        const readable = { ...content, email: '' }
        signInSession.write(reply, readable)
      },
    },
    step: sealedCookie('robokids-sign-in', stepSchema, config, now),
    pendingSignUp: sealedCookie('robokids-sign-up', pendingSignUpSchema, config, now),
    pendingConfirmation: sealedCookie('robokids-confirm', pendingConfirmationSchema, config, now),
    devices: devicesCookie(device, now),
    browser,
  }
}

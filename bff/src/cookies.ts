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
  return {
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
  }
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
export type SessionCookie = z.infer<typeof sessionSchema>

const stepSchema = z.object({
  /** The name that the identity service's step is answered by. */
  username: z.string(),
  /** The identity service's name for the step; for those of ours, what they lead to. */
  challenge: z.string(),
  session: z.string(),
  /** For what the step asks of the person: a choice, a code, … by the name that the browser was told. */
  step: z.string(),
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

const deviceSchema = z.object({
  /** What its person signs in by, in small letters. */
  names: z.array(z.string()),
  key: z.string(),
  group: z.string(),
  secret: z.string(),
  until: z.number(),
})
export type DeviceCookie = z.infer<typeof deviceSchema>

/** As long as the code of a sign-up lives. */
export const confirmingMs = 24 * 3_600_000

/** How long a step of a sign-in, and the wait for a confirmation, are kept. */
export const stepMs = 180_000

export interface Cookies {
  /** Who is signed in. */
  session: SealedCookie<SessionCookie>
  /** A sign-in between two steps. */
  step: SealedCookie<StepCookie>
  /** Who signed up a moment ago, to be signed in when the account is confirmed. */
  newcomer: SealedCookie<z.infer<typeof newcomerSchema>>
  /** Which account was signed up here: others may have given the same address, and it is this one that is confirmed. */
  confirming: SealedCookie<z.infer<typeof confirmingSchema>>
  /** Which of an account's devices this browser is. It stays when somebody signs out. */
  device: SealedCookie<DeviceCookie>
}

export async function registerCookies(http: Http, config: Config, now: () => number): Promise<Cookies> {
  await http.register(fastifyCookie)
  const session = sealedCookie('robokids-session', sessionSchema, config, now)
  return {
    session: {
      ...session,
      write(reply, content) {
        // Processes of the version before read no session without an address.
        const readable = { ...content, email: '' }
        session.write(reply, readable)
      },
    },
    step: sealedCookie('robokids-sign-in', stepSchema, config, now),
    newcomer: sealedCookie('robokids-sign-up', newcomerSchema, config, now),
    confirming: sealedCookie('robokids-confirm', confirmingSchema, config, now),
    device: sealedCookie('robokids-device', deviceSchema, config, now),
  }
}

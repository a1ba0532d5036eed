/** The simulator as a process of its own, configured by the environment; see the README. */
import { z } from 'zod'
import { createSimulator } from './app.ts'

const environment = z
  .object({
    PORT: z.coerce.number().int().min(0).max(65_535).default(4010),
    HOST: z.string().default('127.0.0.1'),
    PUBLIC_URL: z.url().optional(),
    WEBHOOK_URL: z.url().optional(),
    /** Comma-separated while a secret is being rolled. */
    WEBHOOK_SECRET: z.string().optional(),
    STATE_FILE: z.string().optional(),
  })
  .refine((env) => (env.WEBHOOK_URL === undefined) === (env.WEBHOOK_SECRET === undefined), {
    message: 'WEBHOOK_URL and WEBHOOK_SECRET belong together',
  })

const parsed = environment.safeParse(
  Object.fromEntries(Object.entries(process.env).filter(([, value]) => value !== '')),
)
if (!parsed.success) {
  console.error(`stripe-simulator: ${z.prettifyError(parsed.error)}`)
  process.exit(1)
}
const env = parsed.data

const simulator = await createSimulator({
  port: env.PORT,
  host: env.HOST,
  ...(env.PUBLIC_URL === undefined ? {} : { publicUrl: env.PUBLIC_URL }),
  ...(env.STATE_FILE === undefined ? {} : { stateFile: env.STATE_FILE }),
  webhooks:
    env.WEBHOOK_URL === undefined || env.WEBHOOK_SECRET === undefined
      ? []
      : [{ url: env.WEBHOOK_URL, secret: env.WEBHOOK_SECRET.split(',') }],
})
console.log(`stripe-simulator: listening on ${simulator.url} (no real card is charged)`)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void simulator.stop().then(() => process.exit(0))
  })
}

/** The catcher as a process of its own. */
import { z } from 'zod'
import { createSmsCatcher } from './app.ts'

const env = z
  .object({
    PORT: z.coerce.number().int().min(0).max(65_535).default(1081),
    HOST: z.string().default('127.0.0.1'),
  })
  .parse(process.env)

const catcher = await createSmsCatcher({ port: env.PORT, host: env.HOST })
process.stdout.write(`sms-catcher: listening on ${catcher.url}\n`)

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.once(signal, () => {
    void catcher.stop().then(() => process.exit(0))
  })
}

import { openLocks } from '../src/locks.ts'
import { createLogger } from '../src/telemetry.ts'

/** A process that takes a lock, prints `held`, and keeps it until it is killed: `hold-lock.ts <database URL> <lease in ms>`. */
const [url = '', leaseMs = ''] = process.argv.slice(2)
const locks = openLocks(
  { DATABASE_URL: url, DATABASE_POOL: 2 },
  'holder',
  createLogger('holder', 'silent'),
  Number(leaseMs),
)
await locks.withLock('work', async (lost) => {
  process.stdout.write('held\n')
  await new Promise((resolve) => lost.addEventListener('abort', resolve))
  process.stdout.write('lost\n')
})

import { createSecrets, givenSecrets, type GivenSecrets } from './secrets.ts'

/*
 * Prints the Secrets of a new system, for `kubectl create -f -`, which refuses to replace existing ones: with other sealing keys,
 * nobody could sign in any more.
 */
const missing = Object.entries(givenSecrets).filter(([name]) => !process.env[name])
if (missing.length > 0) {
  const lines = missing.map(([name, what]) => `  ${name}: ${what}\n`)
  process.stderr.write(`These are not set in the environment:\n${lines.join('')}`)
  process.exitCode = 1
} else {
  const items = createSecrets(process.env as unknown as GivenSecrets)
  process.stdout.write(`${JSON.stringify({ apiVersion: 'v1', kind: 'List', items }, null, 2)}\n`)
}

/**
 * Prints the scorecard: of its own simulator, or of STRIPE_API_URL. A key of Stripe's sandbox works with
 * https://api.stripe.com. Live keys are refused.
 */
import { createSimulator } from '../src/app.ts'
import { checks, runCheck, type CheckResult } from './scorecard.ts'
import { keyCounts } from './shapes.ts'
import { sections, targetAt } from './target.ts'

const say = (line: string) => process.stdout.write(`${line}\n`)
const url = process.env['STRIPE_API_URL']
const key = process.env['STRIPE_SECRET_KEY'] ?? 'sk_test_scorecard'
if (/^(sk|rk)_live_/.test(key)) throw new Error('A live key has no business here.')
const showsAll = process.argv.includes('--all')

const simulator = url === undefined ? await createSimulator({ retryDelaysMs: [20, 40, 80] }) : undefined
const address = url ?? simulator?.url ?? ''
const hasControl = await fetch(`${address}/_sim/state`).then(
  (answer) => answer.ok && answer.headers.get('content-type')?.startsWith('application/json') === true,
  () => false,
)
const target = targetAt(address, key, hasControl)

let failed = 0
const table: string[] = []
for (const section of sections) {
  const results: CheckResult[] = []
  for (const check of checks[section]) results.push(await runCheck(check, target))
  const count = (outcome: CheckResult['outcome']) => results.filter((one) => one.outcome === outcome).length
  failed += count('failed')
  table.push(`| ${section} | ${count('passed')} | ${count('failed')} | ${count('not run')} | ${results.length} |`)
  for (const { check, outcome, why } of results) {
    if (outcome === 'failed') say(`✗ ${section}: ${check.name}\n    ${why.split('\n').slice(0, 6).join('\n    ')}`)
    else if (showsAll) say(`${outcome === 'passed' ? '✓' : '·'} ${section}: ${check.name}`)
  }
}
say(`\n${simulator === undefined ? address : 'The payment simulator'}\n`)
say('| Section | Passed | Failed | Not run | Checks |')
say('| --- | --- | --- | --- | --- |')
for (const line of table) say(line)
say('\nRequired keys')
for (const { resource, there, required } of await keyCounts(target)) say(`  ${resource}: ${there} of ${required}`)
say('\nA pass shows agreement with the published types and documentation, not with live Stripe.')
await simulator?.stop()
process.exitCode = failed === 0 ? 0 : 1

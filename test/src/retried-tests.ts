import { stripVTControlCharacters } from 'node:util'
import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** How many tests of a run may need their second try. */
const maxRetried = 2

/** The lines of a comparison that differ: without them, "expected { …(5) } to deeply equal { …(5) }" cannot be understood. */
function differences(diff = ''): string[] {
  return stripVTControlCharacters(diff)
    .split('\n')
    .filter((line) => /^\s*[-+] /.test(line))
    .slice(0, 20)
}

/**
 * Lists, at the end of the report, the tests that passed at their second try only, each with the error of its first and
 * what differed. Fails the run when there are more than two.
 */
export default class RetriedTests implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: TestCase[] = []
    for (const testModule of modules)
      for (const test of testModule.children.allTests())
        if ((test.diagnostic()?.retryCount ?? 0) > 0) retried.push(test)
    if (retried.length === 0) return
    const lines = retried.map((test) => {
      const { errors } = test.result()
      const cause = errors?.[0]?.message.split('\n')[0] ?? 'no message'
      return [
        `  ${test.module.relativeModuleId} > ${test.fullName}`,
        ...[cause, ...differences(errors?.[0]?.diff)].map((line) => `    ${line}`),
      ].join('\n')
    })
    const isTooMany = retried.length > maxRetried
    if (isTooMany) process.exitCode = 1
    const verdict = isTooMany ? `, which are more than ${maxRetried}: the run fails` : ''
    process.stdout.write(`\n${retried.length} needed a second try${verdict}:\n${lines.join('\n')}\n`)
  }
}

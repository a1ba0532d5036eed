import type { Reporter, TestCase, TestModule } from 'vitest/node'

/** Lists the tests that passed only when retried: each is a fault to find, in the product or in the test. */
export default class RetryReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const retried: TestCase[] = []
    for (const testModule of modules)
      for (const test of testModule.children.allTests())
        if ((test.diagnostic()?.retryCount ?? 0) > 0) retried.push(test)
    if (retried.length === 0) return
    const lines = retried.map((test) => {
      const { errors } = test.result()
      const cause = errors?.[0]?.message.split('\n')[0] ?? 'no message'
      return `  ${test.module.relativeModuleId} > ${test.fullName}\n    ${cause}`
    })
    process.stdout.write(`\n${retried.length} needed a second try:\n${lines.join('\n')}\n`)
  }
}

import { onTestFinished, describe, expect, it, vi } from 'vitest'
import RetriedTests from './src/retried-tests.ts'

type Modules = Parameters<RetriedTests['onTestRunEnd']>[0]

/** Reports a run of which so many tests passed at their second try. */
function report(retried: number): { exitCode: typeof process.exitCode; printed: string } {
  const before = process.exitCode
  const write = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  onTestFinished(() => {
    write.mockRestore()
    process.exitCode = before
  })
  const tests = Array.from({ length: retried + 1 }, (_, index) => ({
    fullName: `test ${index}`,
    module: { relativeModuleId: 'a.test.ts' },
    diagnostic: () => ({ retryCount: index === retried ? 0 : 1 }),
    result: () => ({
      errors: [{ message: 'late\nby far', diff: '- Expected\n  {\n\u001B[32m-   "seats": 1,\u001B[39m\n  }' }],
    }),
  }))
  new RetriedTests().onTestRunEnd([{ children: { allTests: () => tests } }] as unknown as Modules)
  return { exitCode: process.exitCode, printed: write.mock.calls.join('') }
}

describe('the report of retried tests', () => {
  it('says nothing where every test passed at its first try', () => {
    expect(report(0).printed).toBe('')
  })

  it('lists two with the error of their first try and what differed, and lets the run pass', () => {
    const { exitCode, printed } = report(2)
    expect(printed).toContain(
      '  a.test.ts > test 0\n    late\n    - Expected\n    -   "seats": 1,\n  a.test.ts > test 1\n    late\n',
    )
    expect(exitCode).not.toBe(1)
  })

  it('fails a run with three', () => {
    expect(report(3).exitCode).toBe(1)
  })
})

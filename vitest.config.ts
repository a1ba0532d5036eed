import { defineConfig } from 'vitest/config'
import { highlightSketches } from './web/highlight-sketches.ts'

/**
 * On a crowded machine a deadline may pass by itself once. Whatever passed at its second try only is named at the end of
 * the run, since it is a fault to find, in the product or in the test; `--retry=0` tries nothing twice.
 */
const retry = 1

/**
 * `unit` needs nothing but Node; `integration` brings up PostgreSQL once and a NATS for each suite; `browser` needs Chromium.
 */
export default defineConfig({
  test: {
    // What a file imports is there for the next: nothing in a module may depend on being fresh.
    isolate: false,
    maxWorkers: 2,
    reporters: ['default', './test/src/retry-reporter.ts'],
    projects: [
      {
        plugins: [highlightSketches],
        test: {
          name: 'unit',
          include: ['{contracts,runtime,services/*,bff,web,deploy/*}/src/**/*.test.{ts,tsx}'],
          environment: 'node',
          testTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{services/*,bff,runtime,deploy/*}/test/**/*.test.ts', 'test/**/*.test.ts'],
          globalSetup: ['test/src/global-setup.ts'],
          retry,
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['web/e2e/**/*.test.ts'],
          globalSetup: ['test/src/global-setup.ts'],
          retry,
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})

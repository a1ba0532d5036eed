import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { highlightSketches } from './web/highlight-sketches.ts'

/**
 * On a crowded build machine a deadline may pass by itself once. A test that passed at its second try only is a fault to find,
 * in the product or in the test: the end of the run lists them, and more than a few fail it.
 */
const retry = process.env['CI'] ? 1 : 0

/** One more than there are processors: a suite waits for its servers, its mails or its browser for a third of its time. */
const workers = Math.min(4, availableParallelism() + 1)

/** Node runs these files itself, as it runs the services: nothing in them is for Vite to transform. */
const native = {
  execArgv: [`--import=${new URL('runtime/src/fast-imports.ts', import.meta.url).href}`],
  experimental: { viteModuleRunner: false },
}

/**
 * `unit` needs nothing but Node; `integration` brings up PostgreSQL once and a NATS for each suite; `browser` needs Chromium.
 */
export default defineConfig({
  test: {
    // What a file imports is there for the next: nothing in a module may depend on being fresh.
    isolate: false,
    maxWorkers: workers,
    reporters: ['default', './test/src/retried-tests.ts'],
    projects: [
      {
        plugins: [highlightSketches],
        test: {
          name: 'unit',
          include: ['{contracts,runtime,services/*,bff,web,deploy/*}/src/**/*.test.{ts,tsx}'],
          environment: 'node',
          testTimeout: 60_000,
          hookTimeout: 60_000,
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{services/*,bff,runtime,deploy/*}/test/**/*.test.ts', 'test/**/*.test.ts'],
          globalSetup: ['test/src/global-setup.ts'],
          ...native,
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
          ...native,
          retry,
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})

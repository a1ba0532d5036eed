import { defineConfig } from 'vitest/config'
import { highlightSketches } from './web/highlight-sketches.ts'

/**
 * Nothing is tried a second time: what fails now and then is a fault to find, in the product or in the test.
 * `unit` needs nothing but Node; `integration` brings up PostgreSQL once and a NATS for each suite; `browser` needs Chromium.
 */
export default defineConfig({
  test: {
    // What a file imports is there for the next: nothing in a module may depend on being fresh.
    isolate: false,
    maxWorkers: 2,
    projects: [
      {
        plugins: [highlightSketches],
        test: {
          name: 'unit',
          include: ['{contracts,runtime,services/*,bff,web,deploy/*}/src/**/*.test.{ts,tsx}'],
          environment: 'node',
        },
      },
      {
        test: {
          name: 'integration',
          include: ['{services/*,bff,runtime,deploy/*}/test/**/*.test.ts', 'test/**/*.test.ts'],
          globalSetup: ['test/src/global-setup.ts'],
          testTimeout: 120_000,
          hookTimeout: 240_000,
        },
      },
      {
        test: {
          name: 'browser',
          include: ['web/e2e/**/*.test.ts'],
          globalSetup: ['test/src/global-setup.ts'],
          testTimeout: 240_000,
          hookTimeout: 240_000,
        },
      },
    ],
  },
})

import { owningServices } from '@robokids/local/services'
import * as fc from 'fast-check'
import { operation, pick } from '../operation.ts'

const paths = ['/v1/checkout/sessions', '/v1/checkout/sessions/*', '/v1/refunds', '/v1/subscriptions/*', '/v1/*']

export const faultOperations = [
  operation('webhooks fare otherwise', {
    weight: 4,
    args: fc.constantFrom(
      { paused: true },
      { paused: true, reverse: true },
      { dropped: true },
      { duplicate: 2 },
      { lostAnswers: 1 },
    ),
    async run({ world }, mode) {
      await world.control('webhooks/config', mode)
    },
  }),

  operation('webhooks are released', {
    weight: 3,
    args: fc.constant(null),
    async run({ world }) {
      await world.control('webhooks/release')
    },
  }),

  operation('the provider fails', {
    weight: 2,
    args: fc.record({
      kind: fc.constantFrom('delay', 'reset', 'error'),
      path: fc.constantFrom(...paths),
      times: fc.integer({ min: 1, max: 8 }),
      method: fc.constantFrom('GET', 'POST'),
    }),
    async run(walk, { kind, path, times, method }) {
      walk.hasFaults = true
      await walk.world.control('faults', { kind, path, times, method, delayMs: 50 })
    },
  }),

  operation('a process is killed', {
    weight: 1,
    args: fc.record({ name: fc.constantFrom(...owningServices, 'bff' as const) }),
    async run(walk, { name }) {
      walk.hasFaults = true
      await walk.world.system.processes[name].kill()
    },
  }),

  operation('what was killed is started', {
    weight: 1,
    args: fc.record({ which: fc.nat(4) }),
    possible: ({ world }) => Object.values(world.system.processes).some((one) => !one.isRunning()),
    async run({ world }, { which }) {
      const dead = Object.values(world.system.processes).filter((one) => !one.isRunning())
      await pick(dead, which).start()
    },
  }),

  operation('the mail server goes away', {
    weight: 1,
    args: fc.constant(null),
    run: ({ world }) => world.setMailServer('away'),
  }),

  operation('the mail server is back', {
    weight: 1,
    args: fc.constant(null),
    run: ({ world }) => world.setMailServer('back'),
  }),
]

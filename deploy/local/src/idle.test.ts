import { idleMs } from '@robokids/runtime/jobs'
import { expect, it } from 'vitest'
import { applications, owningServices } from './services.ts'

/** The settings' defaults suffice for the interval of a job. */
const defaults = { RECONCILE_EVERY_MS: 60_000 }

it.each(owningServices)(
  'No job of %s asks the database more often than twice a minute while nothing is due',
  async (name) => {
    const { jobs = [] } = await applications[name].load()
    const often = jobs.filter((job) => {
      const ms =
        typeof job.everyMs === 'number'
          ? job.everyMs
          : job.everyMs(defaults as unknown as Parameters<typeof job.everyMs>[0])
      return ms < idleMs && job.nextDue === undefined
    })
    expect(often.map((job) => job.name)).toEqual([])
  },
)

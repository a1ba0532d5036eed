import { smallClassesFound } from '@robokids/contracts/enrollment'
import type { Context } from '@robokids/runtime/service'
import { publish } from '@robokids/runtime/outbox'
import { and, asc, gt, inArray, isNull, lte } from 'drizzle-orm'
import type { Config } from '../config.ts'
import { isTooSmall } from '../rules.ts'
import { classSessions, levels } from '../schema.ts'

/** Publishes classes that begin within a week and are too small, once per class. Safe to repeat and to run concurrently. */
export async function reportSmallClasses({ db, clock }: Context<Config>): Promise<void> {
  const now = clock.now()
  await db.transaction(async (tx) => {
    const coming = await tx
      .select()
      .from(classSessions)
      .where(
        and(
          isNull(classSessions.smallReportedAt),
          gt(classSessions.startsAt, now),
          // A week with a clock change may be an hour longer.
          lte(classSessions.startsAt, now.add({ hours: 8 * 24 })),
        ),
      )
      .orderBy(asc(classSessions.startsAt), asc(classSessions.id))
      .for('update')
    const small = coming.filter((classSession) => isTooSmall(classSession, now))
    if (small.length === 0) return
    const ids = small.map(({ id }) => id)
    await tx.update(classSessions).set({ smallReportedAt: now }).where(inArray(classSessions.id, ids))
    const titles = new Map<string, string>(
      (await tx.select().from(levels)).map(({ classType, title }) => [classType, title]),
    )
    for (const [classDate, sessions] of Map.groupBy(small, ({ date }) => date)) {
      await publish(tx, smallClassesFound, classDate, {
        classDate,
        classes: sessions.map(({ id, classType, startTime, timeZone, sold, held, capacity }) => ({
          classSessionId: id,
          classType,
          title: titles.get(classType) ?? 'Members’ session',
          startTime,
          timeZone,
          paid: sold,
          held,
          capacity,
        })),
      })
    }
  })
}

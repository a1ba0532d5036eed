import { levelClassTypes } from '@robokids/contracts/enrollment'
import { openingLevels } from '@robokids/contracts/opening-levels'
import type { Clock } from '@robokids/runtime/clock'
import type { Database } from '@robokids/runtime/db'
import { firstPolicy } from './changes/rules.ts'
import { openSeason, sessionRows } from './classes/open-season.ts'
import { changePolicies, classSessions, levels } from './schema.ts'
import { keepWaiverDocuments } from './waivers/waiver-document.ts'

const levelRows: (typeof levels.$inferInsert)[] = levelClassTypes.map((classType, index) => {
  const { recommendedAges, ...level } = openingLevels[classType]
  return { ...level, position: index + 1, classType, ageFrom: recommendedAges.from, ageTo: recommendedAges.to }
})

const fall2025 = ['2025-10-03', '2025-10-04', '2025-10-05', '2025-10-06']

/** Inserts the levels, the past season and, if none is coming, a new one. Runs at every start; existing rows are not changed. */
export async function seed(db: Database, clock: Clock): Promise<void> {
  await db.transaction(async (tx) => {
    await tx.insert(levels).values(levelRows).onConflictDoNothing()
    await tx.insert(classSessions).values(sessionRows('fall-2025', fall2025)).onConflictDoNothing()
    await keepWaiverDocuments(tx)
    await tx.insert(changePolicies).values(firstPolicy).onConflictDoNothing()
    await openSeason(tx, clock)
  })
}

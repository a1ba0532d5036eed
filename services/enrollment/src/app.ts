import { fileURLToPath } from 'node:url'
import type { Service } from '@robokids/runtime/service'
import { configSchema, type Config } from './config.ts'
import { consumers } from './consumers.ts'
import { nextCancellationWork, settleCancellations } from './cancellations/settle-cancellations.ts'
import { expireMoves, nextMoveEnd } from './changes/end-moves.ts'
import { expireHolds, nextHoldEnd } from './registrations/end-hold.ts'
import { expireMemberHolds, nextMemberHoldEnd } from './members/hold-member-seat.ts'
import { makeSignedPdfs, nextSignedPdf } from './waivers/make-signed-pdfs.ts'
import { openSeason } from './classes/open-season.ts'
import { nextReminder, sendReminders } from './reminders/send-reminders.ts'
import { routes } from './routes.ts'
import { seed } from './seed.ts'
import { reportSmallClasses } from './classes/report-small-classes.ts'
import { tables } from './tables.ts'
import { nextDueLine, runLines } from './waitlist/run-lines.ts'

/** Classes, seats, registrations, waivers and kits. */
export const enrollment: Service<Config> = {
  name: 'enrollment',
  config: configSchema,
  migrations: fileURLToPath(new URL('../migrations', import.meta.url)),
  seed,
  routes,
  consumers,
  tables,
  jobs: [
    { name: 'expire-holds', everyMs: 5_000, run: expireHolds, nextDue: nextHoldEnd },
    { name: 'expire-moves', everyMs: 5_000, run: expireMoves, nextDue: nextMoveEnd },
    { name: 'expire-member-holds', everyMs: 5_000, run: expireMemberHolds, nextDue: nextMemberHoldEnd },
    { name: 'settle-cancellations', everyMs: 5_000, run: settleCancellations, nextDue: nextCancellationWork },
    { name: 'run-waitlists', everyMs: 5_000, run: runLines, nextDue: nextDueLine },
    { name: 'make-signed-pdfs', everyMs: 5_000, run: makeSignedPdfs, nextDue: nextSignedPdf },
    { name: 'open-season', everyMs: 3_600_000, run: ({ db, clock }) => db.transaction((tx) => openSeason(tx, clock)) },
    { name: 'send-reminders', everyMs: 10_000, run: sendReminders, nextDue: nextReminder },
    { name: 'report-small-classes', everyMs: 3_600_000, run: reportSmallClasses },
  ],
}

import { z } from 'zod'
import { classTypeSchema, registrationFactsSchema } from './enrollment.ts'
import { defineEvent } from './event.ts'
import { meetingChangeSchema, meetingSchema, reminderKinds, scheduleSchema } from './meetings.ts'

/** The school moved or skipped a meeting of a paid registration's class. Published once per registration and change. */
export const registrationRescheduled = defineEvent(
  'enrollment',
  'registration.rescheduled',
  registrationFactsSchema.extend({ change: meetingChangeSchema, ...scheduleSchema.shape }),
)

/**
 * A mail around a meeting is due to a family that attends it. Published once per family, meeting and kind, and again if the
 * meeting is moved to a time for which it is not due yet.
 */
export const classReminderDue = defineEvent(
  'enrollment',
  'class.reminder_due',
  z.object({
    kind: z.enum(reminderKinds),
    /** The registration, or for a members' class the membership. */
    attendance: z.enum(['registration', 'membership']),
    attendanceId: z.uuid(),
    email: z.string(),
    /** Empty if unknown: a membership has none until its waiver is signed. */
    guardianName: z.string(),
    childNames: z.array(z.string()),
    classSessionId: z.uuid(),
    classType: classTypeSchema,
    levelTitle: z.string(),
    timeZone: z.string(),
    familyTimeZone: z.string().nullish(),
    meeting: meetingSchema,
    /** The number of meetings of the program. */
    meetingCount: z.int(),
    /** The next meeting after this one; null after the last. */
    nextMeeting: meetingSchema.nullable(),
    coachName: z.string().nullable(),
    isSigned: z.boolean(),
    /** Null while the waiver is not signed, or the school has not set it. */
    link: z.object({ joinUrl: z.string(), passcode: z.string().nullable() }).nullable(),
  }),
)

/** A class meets within a day, families attend it, and the school has not set its link. Published once per meeting. */
export const classLinkMissing = defineEvent(
  'enrollment',
  'class_link.missing',
  z.object({
    classSessionId: z.uuid(),
    classType: classTypeSchema,
    levelTitle: z.string(),
    timeZone: z.string(),
    meeting: meetingSchema,
    /** The number of families. */
    families: z.int().min(1),
  }),
)

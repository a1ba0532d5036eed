import { z } from 'zod'
import * as field from './fields.ts'

/**
 * The meetings of a class session, that is, of a program: weekly on the same weekday at the same wall-clock time in California,
 * unless the school moves one.
 */
export const meetingSchema = z.object({
  /** 1 for the first one, whose date is the session's. */
  number: z.int().min(1),
  /** `YYYY-MM-DD` */
  date: z.string(),
  /** `HH:MM` on the wall clock of the session's `timeZone`. */
  startTime: z.string(),
  durationMinutes: z.int(),
  startsAt: z.iso.datetime(),
})
export type Meeting = z.infer<typeof meetingSchema>

/** The schedule of a class session, as registrations and events carry it. */
export const scheduleSchema = z.object({
  /** In their order. */
  meetings: z.array(meetingSchema),
  /** Incremented with each change: the SEQUENCE of calendar entries. */
  scheduleVersion: z.int().min(0),
})
export type Schedule = z.infer<typeof scheduleSchema>

export { linkClosesMinutesAfter, linkOpensMinutesBefore } from './class-link-times.ts'

/** `GET /registrations/:id/link`: the link to the class, from 30 minutes before a meeting until 15 minutes after its end. */
export const classLinkSchema = z.object({
  /** The number of the meeting. */
  meeting: z.int(),
  joinUrl: z.url(),
  /** Null if the video call needs none. */
  passcode: z.string().nullable(),
  /** When this meeting's link stops working. */
  closesAt: z.iso.datetime(),
})
export type ClassLink = z.infer<typeof classLinkSchema>

/** The child's place, if the children of a registration sit in different classes. */
export const linkQuerySchema = z.object({ placeId: field.uuid('placeId must be a UUID.').optional() })

/** What changed about a meeting. After a `skipped` date, this meeting and all later ones take place a week later. */
export const meetingChangeSchema = z.object({
  /** Created by the client: the idempotency key. */
  changeId: z.uuid(),
  kind: z.enum(['moved', 'skipped']),
  number: z.int(),
  from: meetingSchema.pick({ date: true, startTime: true }),
  to: meetingSchema.pick({ date: true, startTime: true }),
})
export type MeetingChange = z.infer<typeof meetingChangeSchema>

const changeId = field.uuid('id must be a UUID.')

/**
 * `POST /admin/class-sessions/:id/meetings/:number/move` (administrators). 409 `meeting_not_movable` if it is the first one, is
 * over, or would not stay between its neighbors.
 */
export const moveMeetingSchema = z.object({
  id: changeId,
  date: field.plainDate,
  /** Unchanged if omitted. */
  startTime: z
    .string()
    .regex(/^([01]\d|2[0-3]):[0-5]\d$/, { error: 'startTime must be HH:MM.' })
    .optional(),
})
export type MoveMeeting = z.infer<typeof moveMeetingSchema>

/** `POST /admin/class-sessions/:id/meetings/:number/skip` (administrators): no class on its date. */
export const skipMeetingSchema = z.object({ id: changeId })

/** `POST /admin/class-sessions/:id/link` (administrators): the link of its video call. */
export const setLinkSchema = z.object({
  joinUrl: z.url({ protocol: /^https$/, error: 'joinUrl must be an https:// address.' }).max(500),
  passcode: field.requiredLine('Passcode', 60).nullish(),
})
export type SetLink = z.infer<typeof setLinkSchema>

/** `POST /admin/class-sessions/:id/coach` (administrators). */
export const setCoachSchema = z.object({ coachName: field.requiredLine('Coach', 80) })
export type SetCoach = z.infer<typeof setCoachSchema>

/**
 * The mails around a meeting: `welcome` three days before the first one, `day` and `hour` before each, and `follow_up` after the
 * first.
 */
export const reminderKinds = ['welcome', 'day', 'hour', 'follow_up'] as const
export type ReminderKind = (typeof reminderKinds)[number]

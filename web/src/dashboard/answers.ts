import type { CalendarAddress, Dashboard } from '@robokids/contracts/dashboard'
import type { ClassLink } from '@robokids/contracts/meetings'
import { answer } from '../api/answer.ts'
import calendarAddressShape from '../api/answers/calendar-address.json'
import classLinkShape from '../api/answers/class-link.json'
import dashboardShape from '../api/answers/dashboard.json'

export const classLink = answer<ClassLink>(classLinkShape)
export const dashboard = answer<Dashboard>(dashboardShape)
export const calendarAddress = answer<CalendarAddress>(calendarAddressShape)

import type { Dashboard, DashboardPast } from '@robokids/contracts/dashboard'
import { answer } from '../api/answer.ts'
import dashboardPastShape from '../api/answers/dashboard-past.json'
import dashboardShape from '../api/answers/dashboard.json'

export const dashboard = answer<Dashboard>(dashboardShape)
export const dashboardPast = answer<DashboardPast>(dashboardPastShape)

import { runService } from '@robokids/runtime/service'
import { notifications } from './app.ts'

await runService(notifications)

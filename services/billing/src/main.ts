import { runService } from '@robokids/runtime/service'
import { billing } from './app.ts'

await runService(billing)

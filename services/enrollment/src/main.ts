import { runService } from '@robokids/runtime/service'
import { enrollment } from './app.ts'

await runService(enrollment)

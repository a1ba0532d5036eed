import { runService } from '@robokids/runtime/service'
import { bff } from './app.ts'

await runService(bff)

import { runService } from '@robokids/runtime/service'
import { identity } from './app.ts'

await runService(identity)

import { orderInteractions } from './orders.ts'
import { processInteractions } from './processes.ts'
import { refundInteractions } from './refunds.ts'
import { registrationInteractions } from './registrations.ts'
import { checkTotals, useStage } from './use-stage.ts'

const stage = useStage()
registrationInteractions(stage)
orderInteractions(stage)
refundInteractions(stage)
processInteractions(stage)
checkTotals(stage)

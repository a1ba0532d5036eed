import { orderMeetings } from './orders.ts'
import { processMeetings } from './processes.ts'
import { refundMeetings } from './refunds.ts'
import { registrationMeetings } from './registrations.ts'
import { allAddsUp, useStage } from './use-stage.ts'

const stage = useStage()
registrationMeetings(stage)
orderMeetings(stage)
refundMeetings(stage)
processMeetings(stage)
allAddsUp(stage)

import { accountMeetings } from './accounts.ts'
import { membershipMeetings } from './memberships.ts'
import { allAddsUp, useStage } from './use-stage.ts'

const stage = useStage()
membershipMeetings(stage)
accountMeetings(stage)
allAddsUp(stage)

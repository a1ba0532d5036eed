import { accountInteractions } from './accounts.ts'
import { membershipInteractions } from './memberships.ts'
import { checkTotals, useStage } from './use-stage.ts'

const stage = useStage()
membershipInteractions(stage)
accountInteractions(stage)
checkTotals(stage)

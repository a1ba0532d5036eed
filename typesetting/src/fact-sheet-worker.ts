import { answerOrders } from './answer-orders.ts'
import { renderFactSheet } from './fact-sheet.ts'

answerOrders(renderFactSheet)

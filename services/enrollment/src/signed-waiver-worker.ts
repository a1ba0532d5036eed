import { answerOrders } from '@robokids/typesetting/answer-orders'
import { renderSignedWaiver, type Signature } from './signed-waiver.ts'

/** What the thread is asked for. */
export interface Order {
  signature: Signature
  shown: Uint8Array
}

answerOrders(({ signature, shown }: Order) => renderSignedWaiver(signature, shown))

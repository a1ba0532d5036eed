import { answerOrders } from '@robokids/typesetting/answer-orders'
import { renderSignedWaiver, type Signature } from './signed-waiver.ts'

export interface RenderJob {
  signature: Signature
  shown: Uint8Array
}

answerOrders(({ signature, shown }: RenderJob) => renderSignedWaiver(signature, shown))

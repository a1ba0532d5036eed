import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { OrderLine } from '@robokids/contracts/shop'

/** The order that a checkout attempt pays for, frozen with its prices. */
export interface OrderFacts {
  orderId: string
  lines: OrderLine[]
}

/** A registration some of whose children move: the attempt pays the difference. */
export interface MoveFacts extends RegistrationFacts {
  move: { changeId: string }
}

type AnyPurchase = RegistrationFacts | MoveFacts | OrderFacts

export function isOrder(purchase: AnyPurchase): purchase is OrderFacts {
  return 'orderId' in purchase
}

export function isMove(purchase: AnyPurchase): purchase is MoveFacts {
  return 'move' in purchase
}

export function kindOf(purchase: AnyPurchase): 'registration' | 'move' | 'order' {
  return isOrder(purchase) ? 'order' : isMove(purchase) ? 'move' : 'registration'
}

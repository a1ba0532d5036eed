import type { RegistrationFacts } from '@robokids/contracts/enrollment'
import type { OrderLine } from '@robokids/contracts/shop'

/** The order that a checkout attempt pays for, frozen with its prices. */
export interface OrderFacts {
  orderId: string
  lines: OrderLine[]
}

export function isOrder(purchase: RegistrationFacts | OrderFacts): purchase is OrderFacts {
  return 'orderId' in purchase
}

import type { CheckoutResponse, Order, StockAlert } from '@robokids/contracts/shop'
import { answer } from '../answer.ts'
import checkoutAnswerShape from '../answers/checkout-answer.json'
import noticeShape from '../answers/notice.json'
import orderShape from '../answers/order.json'

export const checkoutAnswer = answer<CheckoutResponse>(checkoutAnswerShape)
export const orderAnswer = answer<Order>(orderShape)
export const noticeAnswer = answer<StockAlert>(noticeShape)

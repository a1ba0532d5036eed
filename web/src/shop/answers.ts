import type { CheckoutResponse, StockAlert, Order } from '@robokids/contracts/shop'
import { answer } from '../api/answer.ts'
import checkoutAnswerShape from '../api/answers/checkout-answer.json'
import noticeShape from '../api/answers/notice.json'
import orderShape from '../api/answers/order.json'

export const checkoutAnswer = answer<CheckoutResponse>(checkoutAnswerShape)
export const orderAnswer = answer<Order>(orderShape)
export const noticeAnswer = answer<StockAlert>(noticeShape)

import type { AgreementTerms } from '@robokids/contracts/agreement'
import { orderTerms } from '@robokids/contracts/offers'
import { formatMoney } from '@robokids/contracts/pricing'
import { canBeBought } from '@robokids/contracts/products'
import type { Product } from '@robokids/contracts/shop'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { isRefusal } from '../api/refusals.ts'
import { SaleTerms } from '../checkout/SaleTerms.tsx'
import { useExternalRedirect } from '../checkout/use-external-redirect.ts'
import { type WayOn as Way, wayOnFrom } from '../checkout/way-on.ts'
import { WayOn } from '../checkout/WayOn.tsx'
import { useSubmit } from '../forms/use-submit.ts'
import { prepareProof, provenApi } from '../proof-of-work/proven.ts'
import { Button } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import type { Toasted } from '../ui/Toast.tsx'
import { checkoutAnswer } from './answers.ts'
import { forgetSentOrder, orderOf } from './cart-order.ts'
import styles from './Cart.module.css'
import { type CartItem, clearCart, removeFromCart, restoreCart } from './cart.ts'
import { shopQuery } from './shop-query.ts'

interface CartProps {
  items: CartItem[]
  products: Product[]
  /** Called after an item was removed or restored. */
  onChanged: (told: Toasted | null) => void
}

/** The cart's items, total and checkout button. */
export function Cart({ items, products, onChanged }: CartProps) {
  const queryClient = useQueryClient()
  const { leaving, leaveFor } = useExternalRedirect()
  const { pending, message, clear, submit } = useSubmit('The checkout could not be opened. Please try again.')
  const [refused, setRefused] = useState<{ way: Way; agreed: AgreementTerms } | null>(null)
  const checkOutButton = useRef<HTMLButtonElement>(null)

  const lines = items.map((item) => {
    const product = products.find(({ sku }) => sku === item.id)
    const amount = product?.amount ?? Math.round(item.price * 100)
    return { ...item, name: product?.name ?? item.name, amount, isSold: product ? canBeBought(product.state) : false }
  })
  const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })
  const total = usd(lines.reduce((sum, { amount, quantity }) => sum + amount * quantity, 0))
  const unsold = lines.some(({ isSold }) => !isSold)

  const change = (told: string | null, work: () => void) => {
    const undo = () => change(null, () => restoreCart(items))
    work()
    clear()
    onChanged(
      told === null
        ? null
        : {
            text: told,
            action: (
              <Button variant="quiet" onClick={undo}>
                Undo
              </Button>
            ),
          },
    )
  }

  /** The displayed terms, which checking out agrees to. */
  const shown = orderTerms(lines.map(({ id, quantity, amount }) => ({ sku: id, quantity, unitAmount: amount })))

  const checkOut = async (agreed: AgreementTerms) => {
    try {
      const { checkoutUrl } = await provenApi('order', '/api/checkout', {
        method: 'POST',
        body: { ...orderOf(items), agreed },
        answer: checkoutAnswer,
      })
      leaveFor(checkoutUrl)
    } catch (error) {
      if (isRefusal(error, 'product_not_for_sale', 'price_changed')) void queryClient.invalidateQueries(shopQuery)
      const way = wayOnFrom(error)
      if (!way) throw error
      setRefused({ way, agreed })
    }
  }
  const submitOrder = (agreed: AgreementTerms) => {
    if (!leaving) submit(() => checkOut(agreed))
  }

  const backToCart = () => {
    // The cart is kept although it was ordered: as a separate order.
    if (refused?.way.kind === 'paid before') forgetSentOrder()
    setRefused(null)
    // After the dialog has returned the focus: the button was disabled when the dialog opened.
    setTimeout(() => checkOutButton.current?.focus())
  }

  return (
    <>
      <ul className={styles.lines}>
        {lines.map(({ id, name, quantity, amount, isSold }) => (
          <li key={id}>
            <span className={styles.name}>
              <span>{name}</span>
              {quantity > 1 && <span className={styles.count}>{` × ${quantity}`}</span>}
              {!isSold && <span className={styles.unsold}>Not available right now</span>}
            </span>
            <span className={styles.sum}>{usd(amount * quantity)}</span>
            <Button
              variant="quiet"
              onClick={() => change(`${name} is no longer in your cart.`, () => removeFromCart(id))}
            >
              Remove<span className="visually-hidden">{` ${name}`}</span>
            </Button>
          </li>
        ))}
      </ul>
      <p className={styles.total}>
        <span>Total</span>
        <strong>{total}</strong>
      </p>
      {message && <Notice kind="error" title={message.text} live />}
      <Button
        ref={checkOutButton}
        wide
        disabled={unsold}
        onPointerEnter={() => prepareProof('order')}
        onFocus={() => prepareProof('order')}
        onClick={() => submitOrder(shown)}
        pending={pending || leaving}
      >
        Check out
      </Button>
      <SaleTerms />
      <Button variant="quiet" wide onClick={() => change('Your cart is empty.', clearCart)}>
        Clear cart
      </Button>
      <p className={styles.aside}>
        {unsold
          ? 'Please remove what’s not available, and you can check out.'
          : 'You pay by card and enter your address on the next page. Pre-orders are charged today and ship when they’re made.'}
      </p>
      <WayOn
        from="cart"
        wayOn={refused?.way ?? null}
        agreed={refused?.agreed}
        onAgree={(terms) => {
          setRefused(null)
          submitOrder(terms)
        }}
        onLeave={() => {
          forgetSentOrder()
          clearCart()
        }}
        onClose={backToCart}
      />
    </>
  )
}

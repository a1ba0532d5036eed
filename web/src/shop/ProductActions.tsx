import { canRequestStockAlert, canBeBought } from '@robokids/contracts/products'
import type { Product } from '@robokids/contracts/shop'
import type { ReactNode } from 'react'
import { useHydrated } from '../browser/use-hydrated.ts'
import { Button } from '../ui/Button.tsx'
import type { Toasted } from '../ui/Toast.tsx'
import { addToCart, useCart } from './cart.ts'
import styles from './ProductCard.module.css'

interface ProductActionsProps {
  /** Missing if it is no longer sold. */
  product: Product | undefined
  /** The link to the cart. */
  cart: ReactNode
  /** Called when it was added to the cart. */
  onAdded: (told: Toasted) => void
  /** Called to request a stock alert. */
  onAwait: (product: Product) => void
}

/** Actions for a product: buy it, or request a stock alert. */
export function ProductActions({ product, cart, onAdded, onAwait }: ProductActionsProps) {
  const hydrated = useHydrated()
  const inCart = useCart().find(({ id }) => id === product?.sku)?.quantity ?? 0
  if (!product) return null
  const { name, state } = product
  const add = () => {
    const quantity = addToCart(product)
    onAdded({
      text:
        quantity === null
          ? `Your cart already has the most of ${name} that one order can have.`
          : quantity === 1
            ? `${name} is in your cart.`
            : `Your cart now has ${quantity} of ${name}.`,
      action: cart,
    })
  }
  return (
    <>
      {canBeBought(state) && (
        <Button wide disabled={!hydrated} onClick={add}>
          <span>
            Add <span className="visually-hidden">{`${name} `}</span>to cart
          </span>
          {inCart > 0 && <span className={styles.inCart}>{` (${inCart} in it)`}</span>}
        </Button>
      )}
      {canRequestStockAlert(state) && (
        <Button
          wide
          variant={canBeBought(state) ? 'quiet' : 'secondary'}
          disabled={!hydrated}
          onClick={() => onAwait(product)}
        >
          <span>{canBeBought(state) ? 'Notify me when it is in stock' : 'Notify me'}</span>
          <span className="visually-hidden">{` about the ${name}`}</span>
        </Button>
      )}
    </>
  )
}

import { openingClassPrices, openingProducts } from '@robokids/contracts/opening-prices'
import { productPages } from '@robokids/contracts/pages'
import { canBeBought } from '@robokids/contracts/products'
import type { Product } from '@robokids/contracts/shop'
import { useQuery } from '@tanstack/react-query'
import { lazy, Suspense, useRef, useState } from 'react'
import { ButtonLink } from '../ui/Button.tsx'
import { Drawing } from '../ui/Drawing.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Toast, type Toasted } from '../ui/Toast.tsx'
import { useCart } from './cart.ts'
import { ProductActions } from './ProductActions.tsx'
import { ProductCard } from './ProductCard.tsx'
import { classKits, shopProducts, stateNames } from './shop-products.ts'
import { shopQuery } from './shop-query.ts'
import styles from './Shop.module.css'

// Imported on demand.
const Cart = lazy(async () => ({ default: (await import('./Cart.tsx')).Cart }))
const NoticeDialog = lazy(async () => ({ default: (await import('./NoticeDialog.tsx')).NoticeDialog }))

const kitsOpening = { amount: Math.min(...Object.values(openingClassPrices)), currency: 'usd' } as const

export function Shop() {
  const shop = useQuery(shopQuery)
  const cart = useCart()
  const [toast, setToast] = useState<Toasted | null>(null)
  const cartHeading = useRef<HTMLHeadingElement>(null)
  const [awaited, setAwaited] = useState<Product | null>(null)
  // Shows the opening products until the server's response.
  const products =
    shop.data?.products ?? shopProducts.map(({ sku }): Product => ({ sku, ...openingProducts[sku], currency: 'usd' }))

  /** The pressed button was removed: keyboard users continue from the cart's heading. */
  const cartChanged = (message: Toasted | null) => {
    setToast(message)
    cartHeading.current?.focus()
  }

  return (
    <>
      <div className={styles.hero}>
        <div className={styles.heroInner}>
          <p className={styles.kicker}>Shop</p>
          <h1>Kits and robots</h1>
          <p className={styles.lead}>
            The kits of our classes, and the robots that came out of our workshop. Shipping within the U.S. is included.
          </p>
        </div>
      </div>
      <div className={styles.page}>
        <div className={styles.products}>
          <ProductCard
            name={classKits.name}
            drawing="kit-box"
            first
            accent="green"
            price={shop.data?.classesFrom ?? kitsOpening}
            wholePrice
            from
            marks={[classKits.note]}
            text={classKits.text}
            points={classKits.points}
          >
            <ButtonLink to="/robokidslanding" wide>
              View Classes
            </ButtonLink>
          </ProductCard>
          {shopProducts.map(({ sku, mark, ...content }) => {
            const today = products.find((product) => product.sku === sku)
            const { name, amount } = today ?? openingProducts[sku]
            const state = today?.state ?? 'withdrawn'
            return (
              <ProductCard
                key={sku}
                {...content}
                name={name}
                to={productPages[sku]}
                price={{ amount, currency: 'usd' }}
                marks={[stateNames[state], ...(mark && canBeBought(state) ? [mark] : [])]}
              >
                <ProductActions
                  product={today}
                  cart={<a href="#cart">See your cart</a>}
                  onAdded={setToast}
                  onAwait={setAwaited}
                />
              </ProductCard>
            )
          })}
        </div>
        <section id="cart" className={styles.cart} aria-labelledby="cart-heading">
          <h2 id="cart-heading" ref={cartHeading} tabIndex={-1}>
            Your cart
          </h2>
          {cart.length === 0 ? (
            <div className={styles.empty}>
              <Drawing of="empty-tray" />
              <p>Your cart is currently empty.</p>
            </div>
          ) : (
            <Suspense fallback={<Skeleton height="14rem" />}>
              <Cart items={cart} products={products} onChanged={cartChanged} />
            </Suspense>
          )}
        </section>
      </div>
      <Toast message={toast} onClose={() => setToast(null)} />
      {awaited && (
        <Suspense>
          <NoticeDialog product={awaited} open onClose={() => setAwaited(null)} />
        </Suspense>
      )}
    </>
  )
}

import { openingClassPrices, openingProducts } from '@robokids/contracts/opening-prices'
import { canBeAwaited, canBeBought } from '@robokids/contracts/products'
import type { Product } from '@robokids/contracts/shop'
import { useQuery } from '@tanstack/react-query'
import { useHydrated } from '../use-hydrated.ts'
import { lazy, Suspense, useRef, useState } from 'react'
import { ProductCard } from '../components/ProductCard.tsx'
import { classKits, shopProducts, stateNames } from '../content/shop.ts'
import { Drawing } from '../illustrations/Drawing.tsx'
import { addToCart, useCart } from '../shop/cart.ts'
import { shopQuery } from '../shop/shop-query.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Skeleton } from '../ui/Skeleton.tsx'
import { Toast, type Toasted } from '../ui/Toast.tsx'
import styles from './Shop.module.css'

// They come when somebody wants them.
const Cart = lazy(async () => ({ default: (await import('../components/Cart.tsx')).Cart }))
const NoticeDialog = lazy(async () => ({ default: (await import('../components/NoticeDialog.tsx')).NoticeDialog }))

const kitsOpening = { amount: Math.min(...Object.values(openingClassPrices)), currency: 'usd' } as const

export function Shop() {
  const shop = useQuery(shopQuery)
  const hydrated = useHydrated()
  const cart = useCart()
  const [told, setTold] = useState<Toasted | null>(null)
  const cartHeading = useRef<HTMLHeadingElement>(null)
  const [awaited, setAwaited] = useState<Product | null>(null)
  // Until the server has said what is true today, the shop shows what it opened with.
  const products =
    shop.data?.products ?? shopProducts.map(({ sku }): Product => ({ sku, ...openingProducts[sku], currency: 'usd' }))

  /** The pressed button is gone: whoever came by keyboard goes on from the cart's heading. */
  const cartChanged = (message: Toasted | null) => {
    setTold(message)
    cartHeading.current?.focus()
  }

  const add = (product: Product) => {
    const quantity = addToCart(product)
    setTold({
      text:
        quantity === null
          ? `There are as many of ${product.name} in your cart as one order can have.`
          : quantity === 1
            ? `${product.name} is in your cart.`
            : `There are now ${quantity} of ${product.name} in your cart.`,
      action: <a href="#cart">See your cart</a>,
    })
  }

  return (
    <>
      <div className={styles['hero']}>
        <div className={styles['heroInner']}>
          <p className={styles['kicker']}>Shop</p>
          <h1>Kits and robots</h1>
          <p className={styles['lead']}>
            The kits of our classes, and the robots that came out of our workshop. Shipping within the U.S. is in the
            price.
          </p>
        </div>
      </div>
      <div className={styles['page']}>
        <div className={styles['products']}>
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
            const inCart = cart.find(({ id }) => id === sku)?.quantity ?? 0
            return (
              <ProductCard
                key={sku}
                {...content}
                name={name}
                price={{ amount, currency: 'usd' }}
                marks={[stateNames[state], ...(mark && canBeBought(state) ? [mark] : [])]}
              >
                {today && canBeBought(state) && (
                  <Button wide disabled={!hydrated} onClick={() => add(today)}>
                    <span>
                      Add <span className="visually-hidden">{`${today.name} `}</span>to cart
                    </span>
                    {inCart > 0 && <span className={styles['inCart']}>{` (${inCart} in it)`}</span>}
                  </Button>
                )}
                {today && canBeAwaited(state) && (
                  <Button
                    wide
                    variant={canBeBought(state) ? 'quiet' : 'secondary'}
                    disabled={!hydrated}
                    onClick={() => setAwaited(today)}
                  >
                    <span>{canBeBought(state) ? 'Notify me when it is in stock' : 'Notify me'}</span>
                    <span className="visually-hidden">{` about the ${today.name}`}</span>
                  </Button>
                )}
              </ProductCard>
            )
          })}
        </div>
        <section id="cart" className={styles['cart']} aria-labelledby="cart-heading">
          <h2 id="cart-heading" ref={cartHeading} tabIndex={-1}>
            Your cart
          </h2>
          {cart.length === 0 ? (
            <div className={styles['empty']}>
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
      <Toast message={told} onClose={() => setTold(null)} />
      {awaited && (
        <Suspense>
          <NoticeDialog product={awaited} open onClose={() => setAwaited(null)} />
        </Suspense>
      )}
    </>
  )
}

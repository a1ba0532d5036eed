import { formatMoney } from '@robokids/contracts/pricing'
import { canBeAwaited, canBeBought, type Product } from '@robokids/contracts/shop'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useHydrated } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { api, ApiError } from '../api.ts'
import { NoticeDialog } from '../components/NoticeDialog.tsx'
import { ProductCard } from '../components/ProductCard.tsx'
import { classKits, shopProducts, stateNames } from '../content/shop.ts'
import { messageOf } from '../identity/messages.ts'
import { useLeaveFor } from '../registration/use-leave-for.ts'
import { checkoutAnswer } from '../shop/answers.ts'
import { addToCart, type CartItem, clearCart, orderOf, removeFromCart, useCart } from '../shop/cart.ts'
import { shopQuery } from '../shop/queries.ts'
import { Button, ButtonLink } from '../ui/Button.tsx'
import { Notice } from '../ui/Notice.tsx'
import styles from './Shop.module.css'

const opening: Product[] = shopProducts.map(({ sku, name, opening: first }) => ({ sku, name, ...first }))

export function Shop() {
  const shop = useQuery(shopQuery)
  const hydrated = useHydrated()
  const cart = useCart()
  const [told, setTold] = useState('')
  const [awaited, setAwaited] = useState<Product | null>(null)
  // Until the server has said what is true today, the shop shows what it opened with.
  const products = shop.data?.products ?? opening
  const todayOf = (sku: string) => products.find((product) => product.sku === sku)

  const add = (product: Product) => {
    const quantity = addToCart(product)
    setTold(
      quantity === null
        ? `There are as many of ${product.name} in your cart as one order can have.`
        : `${product.name} is in your cart${quantity > 1 ? `, ${quantity} of it` : ''}.`,
    )
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
            accent="green"
            price={shop.data?.classesFrom ?? classKits.opening}
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
            const today = todayOf(sku)
            const state = today?.state ?? 'withdrawn'
            const inCart = cart.find(({ id }) => id === sku)?.quantity ?? 0
            return (
              <ProductCard
                key={sku}
                {...content}
                price={today ?? content.opening}
                marks={[stateNames[state], ...(mark && canBeBought(state) ? [mark] : [])]}
              >
                {today && canBeBought(state) && (
                  <Button wide disabled={!hydrated} onClick={() => add(today)}>
                    <span>
                      Add <span className="visually-hidden">{today.name} </span>to cart
                    </span>
                  </Button>
                )}
                {inCart > 0 && (
                  <a className={styles['inCart']} href="#cart">
                    {inCart} in your cart
                  </a>
                )}
                {today && canBeAwaited(state) && (
                  <Button
                    wide
                    variant={canBeBought(state) ? 'quiet' : 'secondary'}
                    disabled={!hydrated}
                    onClick={() => setAwaited(today)}
                  >
                    <span>
                      {canBeBought(state) ? 'Notify me when it is in stock' : 'Notify me'}
                      <span className="visually-hidden"> about the {today.name}</span>
                    </span>
                  </Button>
                )}
              </ProductCard>
            )
          })}
        </div>
        <Cart items={cart} products={products} onTold={setTold} />
        <output className="visually-hidden">{told}</output>
      </div>
      {awaited && <NoticeDialog product={awaited} open onClose={() => setAwaited(null)} />}
    </>
  )
}

interface CartProps {
  items: CartItem[]
  products: Product[]
  onTold: (told: string) => void
}

function Cart({ items, products, onTold }: CartProps) {
  const queryClient = useQueryClient()
  const heading = useRef<HTMLHeadingElement>(null)
  const { leaving, leaveFor } = useLeaveFor()
  const [sending, setSending] = useState(false)
  const [problem, setProblem] = useState<string | null>(null)
  const underWay = useRef(false)

  const lines = items.map((item) => {
    const product = products.find(({ sku }) => sku === item.id)
    const amount = product?.amount ?? Math.round(item.price * 100)
    return { ...item, name: product?.name ?? item.name, amount, isSold: product ? canBeBought(product.state) : false }
  })
  const usd = (amount: number) => formatMoney({ amount, currency: 'usd' })
  const total = usd(lines.reduce((sum, { amount, quantity }) => sum + amount * quantity, 0))
  const unsold = lines.some(({ isSold }) => !isSold)

  /** The pressed button is gone: whoever came by keyboard goes on from the cart's heading. */
  const change = (told: string, work: () => void) => {
    work()
    setProblem(null)
    onTold(told)
    heading.current?.focus()
  }

  const checkOut = async () => {
    if (underWay.current || leaving) return
    underWay.current = true
    setSending(true)
    setProblem(null)
    try {
      const { checkoutUrl } = await api('/api/checkout', {
        method: 'POST',
        body: orderOf(items),
        answer: checkoutAnswer,
      })
      leaveFor(checkoutUrl)
    } catch (error) {
      setProblem(messageOf(error, 'The checkout could not be opened. Please try again.'))
      if (error instanceof ApiError && error.code === 'product_not_for_sale')
        void queryClient.invalidateQueries(shopQuery)
    } finally {
      underWay.current = false
      setSending(false)
    }
  }

  return (
    <section id="cart" className={styles['cart']} aria-labelledby="cart-heading">
      <h2 id="cart-heading" ref={heading} tabIndex={-1}>
        Your cart
      </h2>
      {lines.length === 0 ? (
        <div className={styles['empty']}>
          <EmptyTray />
          <p>Your cart is currently empty.</p>
        </div>
      ) : (
        <>
          <ul className={styles['lines']}>
            {lines.map(({ id, name, quantity, amount, isSold }) => (
              <li key={id}>
                <span className={styles['name']}>
                  {name}
                  {quantity > 1 && <span className={styles['count']}> × {quantity}</span>}
                  {!isSold && <span className={styles['unsold']}>Cannot be bought right now</span>}
                </span>
                <span className={styles['sum']}>{usd(amount * quantity)}</span>
                <Button
                  variant="quiet"
                  onClick={() => change(`${name} is no longer in your cart.`, () => removeFromCart(id))}
                >
                  <span>
                    Remove<span className="visually-hidden"> {name}</span>
                  </span>
                </Button>
              </li>
            ))}
          </ul>
          <p className={styles['total']}>
            <span>Total</span>
            <strong>{total}</strong>
          </p>
          {problem !== null && <Notice kind="error" title={problem} live />}
          <Button wide disabled={unsold} onClick={() => void checkOut()} pending={sending || leaving}>
            Check out
          </Button>
          <Button variant="quiet" wide onClick={() => change('Your cart is empty.', clearCart)}>
            Clear cart
          </Button>
          <p className={styles['aside']}>
            {unsold
              ? 'Please remove what cannot be bought, and you can check out.'
              : 'You pay by card on the next page, where you also say where to send it. Pre-orders are charged today and ship when they are made.'}
          </p>
        </>
      )}
    </section>
  )
}

/** A parts tray with nothing in it. */
function EmptyTray() {
  return (
    <svg viewBox="0 0 160 96" width="160" height="96" aria-hidden="true" className={styles['tray']}>
      <ellipse cx="80" cy="88" rx="62" ry="6" fill="var(--pic-shadow)" stroke="none" />
      <path d="M22 34h116l-12 50H34z" fill="var(--pic-wood)" />
      <path d="M22 34h116l-10 14H32z" fill="var(--pic-wood-deep)" />
      <path d="M66 62h28" stroke="var(--pic-line)" strokeWidth="5" />
      <path d="M80 22V10m-18 12-6-8m42 8 6-8" strokeDasharray="1 6" />
    </svg>
  )
}

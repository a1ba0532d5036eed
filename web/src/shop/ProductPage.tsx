import { openingProducts } from '@robokids/contracts/opening-prices'
import { formatMoney } from '@robokids/contracts/pricing'
import { canBeBought, type ProductSku } from '@robokids/contracts/products'
import type { Product } from '@robokids/contracts/shop'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { Drawing } from '../ui/Drawing.tsx'
import { Toast, type Toasted } from '../ui/Toast.tsx'
import { productTexts } from './product-texts.ts'
import { ProductActions } from './ProductActions.tsx'
import styles from './ProductPage.module.css'
import { shopProducts, stateNames } from './shop-products.ts'
import { shopQuery } from './shop-query.ts'

const NoticeDialog = lazy(async () => ({ default: (await import('./NoticeDialog.tsx')).NoticeDialog }))

/** The page of one product. */
export function ProductPage({ sku }: { sku: ProductSku }) {
  const shop = useQuery(shopQuery)
  const [toast, setToast] = useState<Toasted | null>(null)
  const [awaited, setAwaited] = useState<Product | null>(null)
  const content = shopProducts.find((product) => product.sku === sku)
  // Shows the opening state until the server's response.
  const today: Product | undefined = shop.data
    ? shop.data.products.find((product) => product.sku === sku)
    : { sku, ...openingProducts[sku], currency: 'usd' }
  const { name, amount } = today ?? openingProducts[sku]
  const state = today?.state ?? 'withdrawn'
  const texts = productTexts[sku]
  return (
    <article className={styles.page} data-accent={content?.accent}>
      <div className={styles.picture}>{content && <Drawing of={content.drawing} first />}</div>
      <div className={styles.words}>
        <p className={styles.kicker}>
          <Link to="/shop">Shop</Link>
          <span aria-hidden="true"> / </span>
          <span>{stateNames[state]}</span>
        </p>
        <h1>{name}</h1>
        <p className={styles.priceLine}>
          <span className={styles.price}>{formatMoney({ amount, currency: 'usd' }, content?.wholePrice)}</span>
          {content?.mark && canBeBought(state) && <span className={styles.mark}>{content.mark}</span>}
        </p>
        <p className={styles.lead}>{content?.text}</p>
        <div className={styles.actions}>
          <ProductActions
            product={today}
            cart={
              <Link to="/shop" hash="cart">
                See your cart
              </Link>
            }
            onAdded={setToast}
            onAwait={setAwaited}
          />
        </div>
        <p>{texts.about}</p>
        {texts.while[state] && <p>{texts.while[state]}</p>}
        <dl className={styles.facts}>
          {texts.facts.map(([term, value]) => (
            <div key={term}>
              <dt>{term}</dt>
              <dd>{value}</dd>
            </div>
          ))}
        </dl>
        <p className={styles.soft}>
          {canBeBought(state) && <span>Shipping within the U.S. is included. </span>}
          <Link to="/faq" hash="pre-order">
            How pre-orders and alerts work
          </Link>
        </p>
      </div>
      <Toast message={toast} onClose={() => setToast(null)} />
      {awaited && (
        <Suspense>
          <NoticeDialog product={awaited} open onClose={() => setAwaited(null)} />
        </Suspense>
      )}
    </article>
  )
}

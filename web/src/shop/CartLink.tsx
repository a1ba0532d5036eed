import { Link } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { session } from '../browser/storage.ts'
import styles from './CartLink.module.css'

/** The link to the cart with its item count; nothing while it is empty. Few visitors have a cart: its code is imported for those. */
export function CartLink() {
  const [count, setCount] = useState(0)
  useEffect(() => {
    const show = () => {
      const read = session.get('cart') ? import('./cart.ts').then(({ inCart }) => inCart()) : Promise.resolve(0)
      read.then(
        (now) => {
          setCount(now)
          // Uses the space that was reserved if there is a cart.
          if (now === 0) delete document.documentElement.dataset['cart']
        },
        () => undefined,
      )
    }
    show()
    window.addEventListener('cart', show)
    return () => window.removeEventListener('cart', show)
  }, [])
  if (count === 0) return null
  return (
    <Link to="/shop" hash="cart" className={styles.cart}>
      <svg viewBox="0 0 24 24" width="24" height="24" aria-hidden="true">
        <path d="M3 4h3l2.500 11h10L21 7.500H7M10 19.500h.01M17 19.500h.01" />
      </svg>
      <span className={styles.count}>
        <span className="visually-hidden">In your cart: </span>
        <span>{count}</span>
      </span>
    </Link>
  )
}

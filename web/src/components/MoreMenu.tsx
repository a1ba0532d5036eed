import { Link } from '@tanstack/react-router'
import { type KeyboardEvent, type PointerEvent, useEffect, useId, useRef, useState } from 'react'
import { moreLinks } from '../content/site.ts'
import styles from './MoreMenu.module.css'
import { Icon } from '../ui/Icon.tsx'

/** How long the menu stays when the pointer has left it. */
const closeDelayMs = 100

/** The rest of the links. A mouse opens it by pointing; keys and fingers by its button. */
export function MoreMenu() {
  const [open, setOpen] = useState(false)
  const listId = useId()
  const button = useRef<HTMLButtonElement>(null)
  const list = useRef<HTMLUListElement>(null)
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lastPointer = useRef('')

  const close = () => {
    if (list.current?.contains(document.activeElement)) button.current?.focus()
    setOpen(false)
  }
  useEffect(() => () => clearTimeout(leaving.current), [])

  const enter = (event: PointerEvent) => {
    if (event.pointerType !== 'mouse') return
    clearTimeout(leaving.current)
    setOpen(true)
  }
  const leave = (event: PointerEvent) => {
    if (event.pointerType === 'mouse') leaving.current = setTimeout(close, closeDelayMs)
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape' && open) {
      close()
      return
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    if (!open) {
      setOpen(true)
      return
    }
    const links = [...(list.current?.querySelectorAll('a') ?? [])]
    const at = links.findIndex((link) => link === document.activeElement)
    links.at(at === -1 && step === -1 ? -1 : (at + step) % links.length)?.focus()
  }

  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches over the button and the links in it
    <div
      className={styles['more']}
      onPointerEnter={enter}
      onPointerLeave={leave}
      onKeyDown={onKeyDown}
      onBlur={(event) => {
        if (!event.currentTarget.contains(event.relatedTarget)) setOpen(false)
      }}
    >
      <button
        ref={button}
        type="button"
        className={styles['button']}
        aria-expanded={open}
        aria-controls={listId}
        onPointerDown={(event) => {
          lastPointer.current = event.pointerType
        }}
        onClick={(event) => {
          // A mouse has opened it already by coming here; `detail` is 0 for keys.
          const byMouse = event.detail > 0 && lastPointer.current === 'mouse'
          setOpen(byMouse || !open)
        }}
      >
        More
        <Icon name="down" size={14} />
      </button>
      <div className={styles['drop']} hidden={!open}>
        <ul id={listId} ref={list} className={styles['list']}>
          {moreLinks.map(({ label, to }) => (
            <li key={to}>
              <Link to={to} className={styles['link']} onClick={() => setOpen(false)}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

import { Link } from '@tanstack/react-router'
import { type PointerEvent, useEffect, useId, useRef } from 'react'
import { Icon } from '../ui/Icon.tsx'
import { moreLinks } from './links.ts'
import styles from './MoreMenu.module.css'

/** How long the menu stays open after the pointer has left it. */
const closeDelayMs = 100

/** The remaining links. Opens on hover, or by its button; Escape or a click outside closes it. */
export function MoreMenu() {
  const listId = useId()
  const list = useRef<HTMLDivElement>(null)
  const leaving = useRef<ReturnType<typeof setTimeout>>(undefined)
  const lastPointer = useRef('')

  const show = (open: boolean) => list.current?.togglePopover(open)
  useEffect(() => () => clearTimeout(leaving.current), [])

  const enter = (event: PointerEvent) => {
    if (event.pointerType !== 'mouse') return
    clearTimeout(leaving.current)
    show(true)
  }
  const leave = (event: PointerEvent) => {
    if (event.pointerType === 'mouse') leaving.current = setTimeout(show, closeDelayMs, false)
  }
  return (
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions -- it only watches over the button and the links in it
    <div
      className={styles.more}
      onPointerEnter={enter}
      onPointerLeave={leave}
      onBlur={(event) => {
        if (event.relatedTarget && !event.currentTarget.contains(event.relatedTarget)) show(false)
      }}
    >
      <button
        type="button"
        className={styles.button}
        popoverTarget={listId}
        onPointerDown={(event) => {
          lastPointer.current = event.pointerType
        }}
        onClick={(event) => {
          // A mouse has opened it already by hovering; `detail` is 0 for the keyboard.
          if (event.detail === 0 || lastPointer.current !== 'mouse') return
          event.preventDefault()
          show(true)
        }}
      >
        More
        <Icon name="down" size={14} />
      </button>
      <div ref={list} id={listId} popover="auto" className={styles.drop}>
        <ul className={styles.list}>
          {moreLinks.map(({ label, to }) => (
            <li key={to}>
              <Link to={to} className={styles.link} onClick={() => show(false)}>
                {label}
              </Link>
            </li>
          ))}
        </ul>
      </div>
    </div>
  )
}

import type { ReactNode } from 'react'
import styles from './Picture.module.css'

interface PictureProps {
  /** Its own size, which is also its proportion. */
  width: number
  height: number
  children: ReactNode
}

/**
 * The ground of every drawing: flat fills in the tokens' colours, rounded lines of 2, light from the upper left. They
 * decorate: what matters is said in the text beside them.
 */
export function Picture({ width, height, children }: PictureProps) {
  return (
    <svg
      viewBox={`0 0 ${width} ${height}`}
      width={width}
      height={height}
      className={styles['picture']}
      aria-hidden="true"
      focusable="false"
    >
      {children}
    </svg>
  )
}

/** What something stands on. */
export function Ground({ x, y, rx, ry = 7 }: { x: number; y: number; rx: number; ry?: number }) {
  return <ellipse cx={x} cy={y} rx={rx} ry={ry} fill="var(--pic-shadow)" stroke="none" />
}

/** The face that all our robots have: a dark screen, two lights and a smile. */
export function Face({
  x,
  y,
  width,
  height,
  blink = false,
}: {
  x: number
  y: number
  width: number
  height: number
  blink?: boolean
}) {
  const middle = x + width / 2
  const eye = Math.min(width, height) / 6
  const level = y + height * 0.44
  return (
    <>
      <rect x={x} y={y} width={width} height={height} rx={height * 0.36} fill="var(--pic-screen)" />
      <path d={`M${x + height * 0.36} ${y + 4.5}h${width * 0.24}`} stroke="var(--pic-shine)" />
      <circle cx={middle - width * 0.21} cy={level} r={eye} fill="var(--pic-glow)" stroke="none" />
      {blink ? (
        <path d={`M${middle + width * 0.21 - eye} ${level}h${eye * 2}`} stroke="var(--pic-glow)" strokeWidth="3" />
      ) : (
        <circle cx={middle + width * 0.21} cy={level} r={eye} fill="var(--pic-glow)" stroke="none" />
      )}
      <path
        d={`M${middle - width * 0.09} ${y + height * 0.68}q${width * 0.09} ${height * 0.14} ${width * 0.18} 0`}
        stroke="var(--pic-glow)"
        strokeWidth="2.5"
      />
    </>
  )
}

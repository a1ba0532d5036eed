export type Hair = 'short' | 'bun' | 'curls' | 'long' | 'cap'

interface PortraitProps {
  skin: 1 | 2 | 3
  hair: Hair
  /** Colours of the tokens. */
  hairColour: string
  shirt: string
  x?: number
  y?: number
}

/** Behind the head, and over it. */
const hairs: Record<Hair, [back: string, front: string]> = {
  short: ['', 'M23 33c-3-20 37-22 35 0-4-2-5-7-7-10-8 3-18 2-22-1-1 4-3 9-6 11z'],
  bun: ['M33 12a7 7 0 1 1 14 0 7 7 0 0 1-14 0z', 'M23 34c-3-26 37-26 34 0-3-4-8-10-17-12-9 2-14 8-17 12z'],
  curls: [
    'M22 40c-8-2-8-12-2-15-2-8 6-13 11-11 3-6 15-6 18 0 6-2 13 3 11 11 6 3 6 13-2 15z',
    'M24 30c2-8 8-9 11-6 3-4 8-3 10 0 4-2 9 0 11 6-3-14-29-14-32 0z',
  ],
  long: ['M20 58c-3-20-2-44 20-44s23 24 20 44z', 'M23 34c0-18 34-18 34 0-6-1-12-5-15-10-3 6-11 10-19 10z'],
  cap: ['', 'M22 28c0-20 36-20 36 0zm0 0h44q0-5-9-6z'],
}

/** Head and shoulders of somebody, 80 wide and high; a robot school's people wear its colours. */
export function Portrait({ skin, hair, hairColour, shirt, x = 0, y = 0 }: PortraitProps) {
  const face = `var(--pic-skin-${skin})`
  const [back, front] = hairs[hair]
  return (
    <g transform={`translate(${x} ${y})`}>
      {back && <path d={back} fill={hairColour} />}
      <path d="M10 80c0-16 12-22 30-22s30 6 30 22z" fill={shirt} />
      <path d="M34 50h12v9q-6 6-12 0z" fill={face} />
      <path d="M24 34c0-22 32-22 32 0 0 14-7 20-16 20s-16-6-16-20z" fill={face} />
      <path
        d="M56 34c0 14-7 20-16 20-4 0-7-1-10-3 12 0 19-8 19-27 5 3 7 6 7 10z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d={front} fill={hairColour} />
      <path d="M34 37v1m12-1v1" strokeWidth="3.5" />
      <path d="M35 45q5 4 10 0" />
    </g>
  )
}

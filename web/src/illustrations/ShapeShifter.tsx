import { Face, Ground, Picture } from './Picture.tsx'

function Block({ x, y, size, fill = 'var(--pic-orange)' }: { x: number; y: number; size: number; fill?: string }) {
  const middle = size / 2
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width={size} height={size} rx="7" fill={fill} />
      <path
        d={`M${size - 8} 0h1q7 0 7 7v${size - 14}q0 7-7 7H7q-7 0-7-7v-1h${size - 8}z`}
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d={`M8 6h${size / 3}`} stroke="var(--pic-shine)" strokeWidth="3" />
      <circle cx={middle} cy={middle} r={size / 6} fill="var(--pic-white)" />
    </g>
  )
}

/** Level X: the orange shape-shifter, half way between what it was and what it will be. */
export function ShapeShifter() {
  return (
    <Picture width={240} height={190}>
      <Ground x={118} y={180} rx={84} />
      <rect x="10" y="20" width="34" height="34" rx="7" strokeDasharray="4 6" stroke="var(--accent)" />
      <rect x="196" y="118" width="34" height="34" rx="7" strokeDasharray="4 6" stroke="var(--accent)" />
      <path d="M40 72C30 68 28 64 27 60m-4 6 4-6 6 3M204 92c8 6 9 12 9 20m-5-6 5 6 5-6" stroke="var(--accent)" />
      <path d="M74 150h14v8H74zm76 0h14v8h-14z" fill="var(--pic-mid)" />
      <path d="M56 100h16v10H56zm110 0h16v10h-16zM112 84h16v14h-16z" fill="var(--pic-mid)" />
      <Block x={84} y={96} size={70} />
      <path d="M98 154h42" stroke="var(--pic-white)" strokeDasharray="0 8.4" strokeWidth="4" />
      <Block x={66} y={146} size={32} fill="var(--pic-mid)" />
      <circle cx="156" cy="162" r="18" fill="var(--pic-screen)" />
      <circle cx="156" cy="162" r="13" stroke="var(--pic-dark)" strokeWidth="3" strokeDasharray="4 5" />
      <circle cx="156" cy="162" r="6" fill="var(--pic-mid)" />
      <Block x={26} y={84} size={34} />
      <path d="M36 84c-8-10-6-20 0-24m14 24c8-10 6-20 0-24" strokeWidth="7" />
      <path d="M36 84c-8-10-6-20 0-24m14 24c8-10 6-20 0-24" stroke="var(--pic-mid)" strokeWidth="3.5" />
      <Block x={178} y={84} size={34} fill="var(--pic-yellow)" />
      <path d="M195 84V66" strokeWidth="3" />
      <path d="M195 64c-10-8-28-8-32-2 8 6 24 6 32 2zm0 0c10-8 28-8 32-2-8 6-24 6-32 2z" fill="var(--pic-white)" />
      <rect x="74" y="22" width="92" height="64" rx="14" fill="var(--pic-white)" />
      <path d="M74 68v4q0 14 14 14h64q14 0 14-14v-4q0 9-14 9H88q-14 0-14-9z" fill="var(--pic-shade)" stroke="none" />
      <path d="M104 22v-8h32v8z" fill="var(--pic-orange)" />
      <path d="m66 46 8-5v22l-8-5zm108 0-8-5v22l8-5z" fill="var(--pic-orange)" />
      <Face x={84} y={32} width={72} height={40} blink />
      <path d="m54 22 3 7 7 3-7 3-3 7-3-7-7-3 7-3zm134 6 2 5 5 2-5 2-2 5-2-5-5-2 5-2z" fill="var(--pic-yellow)" />
    </Picture>
  )
}

import type { ReactNode } from 'react'
import { Face, Ground, Picture } from './Picture.tsx'
import { Portrait } from './Portrait.tsx'

function Tile({ x, y, fill, children }: { x: number; y: number; fill: string; children: ReactNode }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <svg width="92" height="66" viewBox="0 0 92 66" overflow="hidden">
        <rect width="92" height="66" fill={fill} stroke="none" />
        {children}
      </svg>
      <rect width="92" height="66" rx="8" />
    </g>
  )
}

/** A live class: the instructor, four children and one robot on a video call, and the same rover on the table in front. */
export function ClassScene() {
  return (
    <Picture width={440} height={340}>
      <Ground x={222} y={318} rx={206} ry={12} />
      <rect x="42" y="10" width="340" height="240" rx="16" fill="var(--pic-screen)" />
      <rect x="54" y="22" width="316" height="204" rx="8" fill="var(--pic-light)" />
      <circle cx="212" cy="16" r="2" fill="var(--pic-glow)" stroke="none" />
      <Tile x={62} y={32} fill="var(--pic-mid)">
        <Portrait x={6} y={-2} skin={2} hair="bun" hairColour="var(--pic-screen)" shirt="var(--pic-orange)" />
      </Tile>
      <Tile x={166} y={32} fill="var(--pic-yellow)">
        <Portrait x={6} y={4} skin={3} hair="curls" hairColour="var(--pic-screen)" shirt="var(--pic-green)" />
      </Tile>
      <Tile x={270} y={32} fill="var(--pic-blue)">
        <Portrait x={6} y={4} skin={1} hair="short" hairColour="var(--pic-wood-deep)" shirt="var(--pic-violet)" />
      </Tile>
      <Tile x={62} y={110} fill="var(--pic-green)">
        <Portrait x={6} y={4} skin={1} hair="long" hairColour="var(--pic-orange)" shirt="var(--pic-blue)" />
      </Tile>
      <Tile x={166} y={110} fill="var(--pic-violet)">
        <path d="M46 10V2" />
        <circle cx="46" cy="2" r="4" fill="var(--pic-orange)" />
        <rect x="18" y="10" width="56" height="40" rx="13" fill="var(--pic-white)" />
        <Face x={24} y={16} width={44} height={26} />
        <path d="M34 50h24v6H34zM16 56h60v16H16z" fill="var(--pic-green)" />
      </Tile>
      <Tile x={270} y={110} fill="var(--pic-wood)">
        <Portrait x={6} y={6} skin={2} hair="cap" hairColour="var(--pic-red)" shirt="var(--pic-yellow)" />
      </Tile>
      <rect x="62" y="32" width="92" height="66" rx="8" stroke="var(--pic-orange)" strokeWidth="4" />
      <rect x="150" y="186" width="124" height="30" rx="15" fill="var(--pic-white)" />
      <circle cx="172" cy="201" r="9" fill="var(--pic-green)" />
      <path d="M172 196v6m-4-1q0 4 4 4t4-4" />
      <circle cx="198" cy="201" r="9" fill="var(--pic-blue)" />
      <path d="M193 198h7v6h-7zm7 2 4-2v6l-4-2z" />
      <circle cx="224" cy="201" r="9" fill="var(--pic-yellow)" />
      <path d="M224 197v8m-4-4h8" />
      <circle cx="250" cy="201" r="9" fill="var(--pic-red)" />
      <path d="m247 198 6 6m0-6-6 6" />
      <path d="M20 250h384q12 0 12 10 0 14-18 14H26Q8 274 8 260q0-10 12-10z" fill="var(--pic-mid)" />
      <path d="M170 250h84q-2 10-12 10h-60q-10 0-12-10z" fill="var(--pic-light)" />
      <path d="M24 258h110" stroke="var(--pic-shine)" strokeWidth="3" />
      <g transform="translate(262 208) scale(.72)">
        <circle cx="60" cy="138" r="22" fill="var(--pic-screen)" />
        <circle cx="60" cy="138" r="10" fill="var(--pic-mid)" />
        <circle cx="122" cy="138" r="22" fill="var(--pic-screen)" />
        <circle cx="122" cy="138" r="10" fill="var(--pic-mid)" />
        <circle cx="184" cy="138" r="22" fill="var(--pic-screen)" />
        <circle cx="184" cy="138" r="10" fill="var(--pic-mid)" />
        <path
          d="M46 80h150q12 0 12 12v12q0 18-18 18H52q-18 0-18-18V92q0-12 12-12z"
          fill="var(--pic-green)"
          strokeWidth="2.6"
        />
        <path d="M34 104q0 18 18 18h138q18 0 18-18v-3q0 8-18 8H52q-18 0-18-8z" fill="var(--pic-shade)" stroke="none" />
        <path d="M160 50h14v30h-14z" fill="var(--pic-mid)" strokeWidth="2.6" />
        <path d="M167 8V-4" strokeWidth="2.6" />
        <circle cx="167" cy="-6" r="5" fill="var(--pic-orange)" strokeWidth="2.6" />
        <rect x="116" y="8" width="102" height="50" rx="16" fill="var(--pic-white)" strokeWidth="2.6" />
        <Face x={126} y={15} width={82} height={35} />
        <rect x="50" y="62" width="82" height="18" rx="3" fill="var(--pic-white)" strokeWidth="2.6" />
        <path d="M60 71h64" strokeDasharray="0 8" strokeWidth="3.5" stroke="var(--pic-dark)" />
        <path d="M70 68c0-26 30-24 30 0" stroke="var(--pic-orange)" strokeWidth="4" />
      </g>
      <path d="M34 300h50v18H34z" fill="var(--pic-red)" />
      <path d="M42 290h34v10H42z" fill="var(--pic-yellow)" />
      <path d="m108 318 34-44 8 6-34 44-10 4z" fill="var(--pic-yellow)" transform="translate(0 -8)" />
    </Picture>
  )
}

import { Ground, Picture } from './Picture.tsx'

function Wire({ path, colour }: { path: string; colour: string }) {
  return (
    <>
      <path d={path} strokeWidth="6.5" />
      <path d={path} stroke={colour} strokeWidth="3" />
    </>
  )
}

function Pin({ y, label }: { y: number; label: string }) {
  return (
    <>
      <rect x="126" y={y - 7} width="24" height="14" rx="2" fill="var(--pic-screen)" />
      <text
        x="118"
        y={y + 4}
        textAnchor="end"
        fontFamily="var(--mono)"
        fontSize="12"
        fontWeight="600"
        fill="var(--pic-line)"
        stroke="none"
      >
        {label}
      </text>
    </>
  )
}

const holes = [150, 162, 174, 186, 198, 222, 234, 246, 258, 270, 292]

/**
 * The light switch guide on the bench. Pin 9 → resistor → LED → ground rail; pin 2 → button → ground rail (the pin's own
 * pull-up does the rest). Holes of a column above or below the middle gap are one: every wire ends where it must.
 */
export function GuideScene() {
  return (
    <Picture width={440} height={340}>
      <Ground x={222} y={324} rx={210} ry={10} />
      <rect x="10" y="128" width="142" height="180" rx="10" fill="var(--pic-green)" />
      <path
        d="M142 128q10 0 10 10v160q0 10-10 10H20q-10 0-10-10v-6h120q8 0 8-8V128z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d="M22 138h60" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="24" y="112" width="40" height="34" rx="3" fill="var(--pic-mid)" />
      <path d="M30 120h28" stroke="var(--pic-dark)" />
      <path d="M44 112V70q0-20-20-20H0" strokeWidth="10" />
      <path d="M44 112V70q0-20-20-20H0" stroke="var(--pic-mid)" strokeWidth="6" />
      <rect x="30" y="176" width="42" height="62" rx="4" fill="var(--pic-screen)" />
      <path d="M30 186h-7m7 14h-7m7 14h-7m7 14h-7m49-42h7m-7 14h7m-7 14h7m-7 14h7" />
      <circle cx="50" cy="186" r="3" fill="var(--pic-mid)" stroke="none" />
      <circle cx="96" cy="152" r="5" fill="var(--pic-yellow)" />
      <path d="M24 268h18m10 0h8m10 0h14" stroke="var(--pic-white)" strokeWidth="3" />
      <circle cx="24" cy="294" r="5" fill="var(--pic-white)" />
      <circle cx="138" cy="142" r="5" fill="var(--pic-white)" />
      <Pin y={190} label="9" />
      <Pin y={222} label="2" />
      <Pin y={254} label="GND" />
      <rect x="176" y="134" width="256" height="176" rx="8" fill="var(--pic-white)" />
      <path d="M424 134q8 0 8 8v160q0 8-8 8H184q-8 0-8-8v-2h240q8 0 8-8z" fill="var(--pic-shade)" stroke="none" />
      <path d="M180 210h248" stroke="var(--pic-mid)" strokeWidth="7" strokeLinecap="butt" />
      <path d="M184 302h240" stroke="var(--pic-blue)" strokeWidth="2.5" />
      {holes.map((y) => (
        <path key={y} d={`M190 ${y}h228`} stroke="var(--pic-dark)" strokeDasharray="0 12" strokeWidth="4" />
      ))}
      <Wire path="M150 254c18 0 22 38 40 38" colour="var(--pic-dark)" />
      <Wire path="M150 190c26 0 30-28 64-28" colour="var(--pic-orange)" />
      <path d="M214 186h60" strokeWidth="3" />
      <rect x="226" y="179" width="36" height="14" rx="6" fill="var(--pic-wood)" />
      <path d="M234 179v14" stroke="var(--pic-red)" strokeWidth="4" strokeLinecap="butt" />
      <path d="M243 179v14" stroke="var(--pic-violet)" strokeWidth="4" strokeLinecap="butt" />
      <path d="M252 179v14" stroke="var(--pic-yellow)" strokeWidth="4" strokeLinecap="butt" />
      <circle cx="280" cy="96" r="52" fill="var(--pic-yellow)" opacity=".22" stroke="none" />
      <circle cx="280" cy="96" r="36" fill="var(--pic-yellow)" opacity=".3" stroke="none" />
      <path d="M274 122v40m12-40v40" strokeWidth="3" />
      <path d="M262 114V94a18 18 0 0 1 36 0v20z" fill="var(--pic-yellow)" />
      <path d="M290 114V94q0-10-8-18 16 2 16 18v20z" fill="var(--pic-shade)" stroke="none" />
      <path d="M270 96q0-8 6-10" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="258" y="114" width="44" height="9" rx="3" fill="var(--pic-yellow)" />
      <path d="M280 54V40m-32 18-10-10m74 10 10-10m-92 48h-14m116 0h14" stroke="var(--pic-orange)" />
      <Wire path="M286 198c0 30 12 60 12 94" colour="var(--pic-dark)" />
      <Wire path="M150 222c60 0 90 24 184 24" colour="var(--pic-blue)" />
      <Wire path="M358 246v46" colour="var(--pic-dark)" />
      <path d="M334 198v24m24-24v24" strokeWidth="4" />
      <rect x="329" y="195" width="34" height="30" rx="4" fill="var(--pic-mid)" />
      <circle cx="346" cy="210" r="10" fill="var(--pic-red)" />
      <path d="M341 206q2-3 5-3" stroke="var(--pic-shine)" />
    </Picture>
  )
}

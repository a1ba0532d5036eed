import { Face, Ground, Picture } from './Picture.tsx'

/** The robot of the page that is not there: it took itself apart, and is in good spirits about it. */
export function LostRobot() {
  return (
    <Picture width={400} height={250}>
      <Ground x={200} y={230} rx={184} ry={10} />
      <path d="M60 226c30 10 50-14 84-6" strokeDasharray="1 9" strokeWidth="4" stroke="var(--pic-dark)" />
      <circle cx="46" cy="198" r="29" fill="var(--pic-screen)" />
      <circle cx="46" cy="198" r="23" stroke="var(--pic-dark)" strokeWidth="4" strokeDasharray="5 7.1" />
      <circle cx="46" cy="198" r="14" fill="var(--pic-yellow)" />
      <circle cx="46" cy="198" r="5" fill="var(--pic-white)" />
      <path d="M136 128h116q14 0 14 14v64q0 20-20 20H142q-20 0-20-20v-64q0-14 14-14z" fill="var(--pic-orange)" />
      <path
        d="M122 198v8q0 20 20 20h104q20 0 20-20v-8q0 12-20 12H142q-20 0-20-12z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path d="M136 136h40" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="152" y="152" width="84" height="44" rx="8" fill="var(--pic-white)" />
      <text
        x="194"
        y="183"
        textAnchor="middle"
        fontFamily="var(--mono)"
        fontSize="28"
        fontWeight="700"
        fill="var(--pic-line)"
        stroke="none"
      >
        404
      </text>
      <path d="M176 128v-12h36v12z" fill="var(--pic-mid)" />
      <path d="m196 114-14-8 26-7-26-8 26-7-26-8 24-8 6-10" strokeWidth="3" />
      <path d="M266 150c30-6 40 14 34 34" strokeWidth="9" />
      <path d="M266 150c30-6 40 14 34 34" stroke="var(--pic-mid)" strokeWidth="5" />
      <path d="M292 184h16v10h-16z" fill="var(--pic-orange)" />
      <path d="M292 194q-6 12 2 18m14-18q6 12-2 18" strokeWidth="4" />
      <path d="M122 156c-28-14-34-40-24-60" strokeWidth="9" />
      <path d="M122 156c-28-14-34-40-24-60" stroke="var(--pic-mid)" strokeWidth="5" />
      <path d="m92 96 12-6 6 8-10 8z" fill="var(--pic-orange)" />
      <path d="M94 88c-8-6-6-14 0-18m16 14c6-8 2-14-4-18" strokeWidth="4" />
      <g transform="rotate(18 246 46)">
        <path
          d="M182 34h8v18h-8a5 5 0 0 1-5-5v-8a5 5 0 0 1 5-5zm124 0h-8v18h8a5 5 0 0 0 5-5v-8a5 5 0 0 0-5-5z"
          fill="var(--pic-orange)"
        />
        <rect x="190" y="8" width="108" height="72" rx="18" fill="var(--pic-white)" />
        <path
          d="M190 60v2q0 18 18 18h72q18 0 18-18v-2q0 11-18 11h-72q-18 0-18-11z"
          fill="var(--pic-shade)"
          stroke="none"
        />
        <Face x={202} y={20} width={84} height={46} blink />
        <path d="M244 8V-6" />
        <circle cx="244" cy="-9" r="5" fill="var(--pic-green)" />
      </g>
      <path d="M340 226v-20h-8l16-30 16 30h-8v20z" fill="var(--pic-green)" transform="rotate(80 348 206)" />
      <circle cx="338" cy="120" r="14" strokeDasharray="5 4" />
      <path d="M333 116q0-6 6-6 5 0 5 5 0 4-5 6v3m0 5v.1" />
      <path d="m326 64 4 4 6-8m20 76h10m-5-5v10" stroke="var(--pic-dark)" />
      <path d="M76 40h12m-6-6v12" stroke="var(--pic-dark)" />
    </Picture>
  )
}

import { Face, Ground, Picture } from './Picture.tsx'

function Joint({ x, y, r }: { x: number; y: number; r: number }) {
  return (
    <>
      <circle cx={x} cy={y} r={r} fill="var(--pic-white)" />
      <circle cx={x} cy={y} r={r - 5} fill="var(--pic-mid)" />
      <circle cx={x} cy={y} r="2.5" fill="var(--pic-line)" stroke="none" />
    </>
  )
}

/** Level 2: the blue arm, which looks at a block before it takes it. */
export function Arm() {
  return (
    <Picture width={240} height={190}>
      <Ground x={120} y={178} rx={108} />
      <path d="m62 104 25-66 20 7-25 67z" fill="var(--pic-blue)" />
      <path d="m82 112 25-67-8-3-25 67z" fill="var(--pic-shade)" stroke="none" />
      <path d="m74 88 12-32" stroke="var(--pic-shine)" strokeWidth="3" />
      <path d="m96 30 78 20-5 20-78-18z" fill="var(--pic-blue)" />
      <path d="m92 50 78 20 2-8-78-20z" fill="var(--pic-shade)" stroke="none" />
      <path d="M74 106c-22-22-20-60 16-66" stroke="var(--pic-orange)" strokeWidth="3" />
      <rect x="122" y="20" width="46" height="22" rx="5" transform="rotate(14.5 145 31)" fill="var(--pic-white)" />
      <circle cx="135" cy="29" r="7.5" fill="var(--pic-screen)" />
      <circle cx="156" cy="34" r="7.5" fill="var(--pic-screen)" />
      <circle cx="136" cy="29" r="2.6" fill="var(--pic-glow)" stroke="none" />
      <circle cx="157" cy="34" r="2.6" fill="var(--pic-glow)" stroke="none" />
      <Joint x={97} y={42} r={15} />
      <path d="M166 54h18v26h-18z" fill="var(--pic-mid)" />
      <Joint x={175} y={60} r={12} />
      <path d="M156 80h38v9h-38z" fill="var(--pic-white)" />
      <path d="M158 89h9l-3 18 7 14-8 4-9-18zm34 0h-9l3 18-7 14 8 4 9-18z" fill="var(--pic-blue)" />
      <path d="m164 112 11-6 11 6v14l-11 6-11-6z" fill="var(--pic-yellow)" />
      <path d="m164 112 11 6 11-6m-11 6v14" />
      <path d="M175 118v14l11-6v-14z" fill="var(--pic-shade)" stroke="none" />
      <path d="M132 148h16m-8-8v16m68-30h12m-6-6v12" stroke="var(--accent)" opacity=".7" />
      <rect x="152" y="152" width="28" height="26" rx="3" fill="var(--pic-red)" />
      <rect x="182" y="152" width="28" height="26" rx="3" fill="var(--pic-green)" />
      <path d="M171 178h9v-26h-5zM201 178h9v-26h-5z" fill="var(--pic-shade)" stroke="none" />
      <path d="M158 158h8m22 0h8" stroke="var(--pic-shine)" strokeWidth="3" />
      <path d="M36 128q0-14 14-14h48q14 0 14 14v42H36z" fill="var(--pic-white)" />
      <path d="M98 114q14 0 14 14v42H98z" fill="var(--pic-shade)" stroke="none" />
      <path d="M26 168h96q6 0 6 5v5H20v-5q0-5 6-5z" fill="var(--pic-blue)" />
      <Face x={46} y={124} width={56} height={32} />
      <Joint x={74} y={106} r={16} />
    </Picture>
  )
}

import { Ground, Picture } from './Picture.tsx'

/** One side's legs, each: from the body over the knee to the foot. */
const legs = ['M104 96 66 52 30 92', 'M100 106 52 84 14 136', 'M102 118 58 118 30 170', 'M110 128 78 146 66 184']

function Side() {
  return (
    <>
      {legs.map((leg) => (
        <g key={leg}>
          <path d={leg} strokeWidth="12" />
          <path d={leg} stroke="var(--pic-mid)" strokeWidth="8" />
        </g>
      ))}
      {[
        [66, 52],
        [52, 84],
        [58, 118],
        [78, 146],
      ].map(([x, y]) => (
        <g key={y}>
          <circle cx={x} cy={y} r="9" fill="var(--pic-blue)" />
          <circle cx={x} cy={y} r="3" fill="var(--pic-white)" />
        </g>
      ))}
      <path d="m25 90 10 5-10 6zm-16 44 10 4-9 7zm16 34 11 2-8 8zm36 14 11-1-5 9z" fill="var(--pic-orange)" />
    </>
  )
}

/** The spider robot: eight legs, four eyes, and a light to see in the dark. */
export function Spider() {
  return (
    <Picture width={280} height={206}>
      <Ground x={140} y={188} rx={112} ry={9} />
      <Side />
      <g transform="matrix(-1 0 0 1 280 0)">
        <Side />
      </g>
      <path d="M140 28V14" />
      <circle cx="140" cy="11" r="5" fill="var(--pic-orange)" />
      <path d="M88 96c0-42 22-68 52-68s52 26 52 68z" fill="var(--pic-blue)" />
      <path d="M192 96c0-42-22-68-52-68 22 10 32 36 32 68z" fill="var(--pic-shade)" stroke="none" />
      <path d="M102 74c3-16 12-28 24-33" stroke="var(--pic-shine)" strokeWidth="4" />
      <path d="M80 96h120q8 0 8 8 0 42-68 42T72 104q0-8 8-8z" fill="var(--pic-white)" />
      <path d="M208 104q0 42-68 42-14 0-26-2 72-2 78-48h8q8 0 8 8z" fill="var(--pic-shade)" stroke="none" />
      <path d="M94 104h92q8 0 8 7 0 24-54 24T86 111q0-7 8-7z" fill="var(--pic-screen)" />
      <circle cx="122" cy="116" r="8" fill="var(--pic-glow)" stroke="none" />
      <circle cx="158" cy="116" r="8" fill="var(--pic-glow)" stroke="none" />
      <circle cx="102" cy="112" r="4" fill="var(--pic-glow)" stroke="none" />
      <circle cx="178" cy="112" r="4" fill="var(--pic-glow)" stroke="none" />
      <circle cx="119" cy="113" r="2.5" fill="var(--pic-shine)" stroke="none" />
      <circle cx="155" cy="113" r="2.5" fill="var(--pic-shine)" stroke="none" />
      <path d="M133 126q7 5 14 0" stroke="var(--pic-glow)" strokeWidth="2.5" />
      <path d="M120 66h40v14h-40z" fill="var(--pic-screen)" />
      <path d="M127 73h4m5 0h4m5 0h4" stroke="var(--pic-green)" strokeWidth="4" />
    </Picture>
  )
}

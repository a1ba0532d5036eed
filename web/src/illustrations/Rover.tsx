import { Face, Ground, Picture } from './Picture.tsx'

function Wheel({ x }: { x: number }) {
  return (
    <>
      <circle cx={x} cy="152" r="24" fill="var(--pic-screen)" />
      <circle cx={x} cy="152" r="19.5" stroke="var(--pic-dark)" strokeWidth="3" strokeDasharray="4 6.2" />
      <circle cx={x} cy="152" r="12" fill="var(--pic-mid)" />
      <path d={`M${x} 142v20m-8.7-15 17.4 10m0-10-17.4 10`} stroke="var(--pic-dark)" />
      <circle cx={x} cy="152" r="4" fill="var(--pic-white)" />
    </>
  )
}

/** Level 1: the green rover, with its breadboard on its back and a light in its hand. */
export function Rover() {
  return (
    <Picture width={240} height={190}>
      <Ground x={122} y={178} rx={100} />
      <path d="M38 112 22 98l-2-24" strokeWidth="7" />
      <path d="M38 112 22 98l-2-24" stroke="var(--pic-mid)" strokeWidth="3.5" />
      <circle cx="22" cy="98" r="5" fill="var(--pic-white)" />
      <circle cx="20" cy="48" r="17" fill="var(--pic-yellow)" opacity=".28" stroke="none" />
      <path d="M12 54v-6a8 8 0 0 1 16 0v6z" fill="var(--pic-yellow)" />
      <path d="M10 54h20v6H10zM16 60v14m8-14v14" fill="var(--pic-mid)" />
      <path d="M58 140 88 118h66l34 22" strokeWidth="9" />
      <path d="M58 140 88 118h66l34 22" stroke="var(--pic-dark)" strokeWidth="5" />
      <Wheel x={60} />
      <Wheel x={122} />
      <Wheel x={184} />
      <path d="M48 90h148q12 0 12 12v14q0 18-18 18H54q-18 0-18-18v-14q0-12 12-12z" fill="var(--pic-green)" />
      <path d="M36 116q0 18 18 18h136q18 0 18-18v-3q0 8-18 8H54q-18 0-18-8z" fill="var(--pic-shade)" stroke="none" />
      <path d="M48 97h60" stroke="var(--pic-shine)" strokeWidth="3" />
      <path d="M54 106h34v14H54z" fill="var(--pic-white)" />
      <path d="M60 113h4m5 0h4m5 0h4" strokeWidth="3" />
      <circle cx="192" cy="108" r="6" fill="var(--pic-yellow)" />
      <circle cx="172" cy="108" r="3" fill="var(--pic-orange)" />
      <rect x="54" y="74" width="80" height="16" rx="3" fill="var(--pic-white)" />
      <path d="M62 79.500h64m-64 5h64" strokeDasharray="0 8" strokeWidth="2.6" stroke="var(--pic-dark)" />
      <path d="M70 79c0-22 22-20 22-1" stroke="var(--pic-orange)" strokeWidth="3" />
      <path d="M82 79c0-30 34-26 34-1" stroke="var(--pic-blue)" strokeWidth="3" />
      <path d="M102 74v-8h8v8m-8-8v-6a4 4 0 0 1 8 0v6z" fill="var(--pic-red)" />
      <path d="M160 60h14v30h-14z" fill="var(--pic-mid)" />
      <path d="M160 70h14m-14 8h14" stroke="var(--pic-dark)" />
      <path d="M167 18V8" />
      <circle cx="167" cy="6" r="4.5" fill="var(--pic-orange)" />
      <rect x="120" y="18" width="94" height="46" rx="15" fill="var(--pic-white)" />
      <path
        d="M120 46v3q0 15 15 15h64q15 0 15-15v-3q0 10-15 10h-64q-15 0-15-10z"
        fill="var(--pic-shade)"
        stroke="none"
      />
      <path
        d="M114 34h6v14h-6a4 4 0 0 1-4-4v-6a4 4 0 0 1 4-4zm106 0h-6v14h6a4 4 0 0 0 4-4v-6a4 4 0 0 0-4-4z"
        fill="var(--pic-green)"
      />
      <Face x={128} y={24} width={78} height={32} />
    </Picture>
  )
}

import { Picture } from './Picture.tsx'

function Table() {
  return (
    <>
      <path d="M0 178h320v42H0z" fill="var(--pic-wood)" stroke="none" />
      <path d="M0 178h320" />
      <path d="M0 196h320" stroke="var(--pic-wood-deep)" />
    </>
  )
}

function ControllerBoard({ x, y }: { x: number; y: number }) {
  return (
    <g transform={`translate(${x} ${y})`}>
      <rect width="76" height="50" rx="5" fill="var(--pic-green)" />
      <rect x="-7" y="15" width="15" height="18" rx="2" fill="var(--pic-mid)" />
      <rect x="28" y="17" width="22" height="18" rx="2" fill="var(--pic-screen)" />
      <path d="M14 6h54M14 44h54" stroke="var(--pic-screen)" strokeWidth="5" strokeDasharray="0.1 7" />
    </g>
  )
}

/** Battery plus → switch → resistor → the LED's long leg; its short leg → battery minus. */
export function FirstCircuit() {
  return (
    <Picture width={320} height={220}>
      <path d="M76 82V44h52" stroke="var(--pic-red)" strokeWidth="3" />
      <path d="M184 44h66v40" stroke="var(--pic-red)" strokeWidth="3" />
      <path d="M250 120v26" stroke="var(--pic-red)" strokeWidth="3" />
      <path d="M250 146v30h-74" stroke="var(--pic-red)" strokeWidth="3" />
      <path d="M148 176H76v-24" strokeWidth="3" />
      <rect x="50" y="82" width="52" height="70" rx="6" fill="var(--pic-yellow)" />
      <path d="M66 76h20v6H66z" fill="var(--pic-mid)" />
      <path d="M69 98h14m-7-7v14M69 138h14" />
      <circle cx="128" cy="44" r="5" fill="var(--pic-white)" />
      <circle cx="184" cy="44" r="5" fill="var(--pic-white)" />
      <path d="m132 41 40-19" strokeWidth="4" />
      <rect x="238" y="84" width="24" height="36" rx="8" fill="var(--pic-wood)" />
      <path d="M238 94h24" stroke="var(--pic-orange)" strokeWidth="3" />
      <path d="M238 102h24" stroke="var(--pic-orange)" strokeWidth="3" />
      <path d="M238 110h24" stroke="var(--pic-wood-deep)" strokeWidth="3" />
      <path d="M176 176v-22m-28 22v-14" />
      <path d="M144 154v-22a18 18 0 0 1 36 0v22z" fill="var(--pic-red)" />
      <path d="M140 154h44v8h-44z" fill="var(--pic-red)" />
      <path d="M134 112l-10-8m38-10V80m28 32 10-8" stroke="var(--pic-yellow)" strokeWidth="3" />
    </Picture>
  )
}

export function CodeAndBoard() {
  return (
    <Picture width={320} height={220}>
      <Table />
      <rect x="40" y="34" width="168" height="116" rx="9" fill="var(--pic-dark)" />
      <rect x="49" y="43" width="150" height="98" rx="4" fill="var(--pic-screen)" />
      <path d="M26 150h196l10 28H16z" fill="var(--pic-mid)" />
      <path d="M58 164h132" strokeDasharray="10 6" />
      <g strokeWidth="5">
        <path d="M60 58h34" stroke="var(--pic-violet)" />
        <path d="M102 58h26" stroke="var(--pic-glow)" />
        <path d="M72 74h22" stroke="var(--pic-orange)" />
        <path d="M102 74h54" stroke="var(--pic-glow)" />
        <path d="M84 90h40" stroke="var(--pic-green)" />
        <path d="M84 106h28" stroke="var(--pic-yellow)" />
        <path d="M120 106h22" stroke="var(--pic-glow)" />
        <path d="M72 122h18" stroke="var(--pic-orange)" />
      </g>
      <path d="M222 164c18 0 6-34 18-34" strokeWidth="3" />
      <ControllerBoard x={247} y={105} />
      <path d="M240 130h8" strokeWidth="5" />
    </Picture>
  )
}

export function Notebook() {
  return (
    <Picture width={320} height={220}>
      <Table />
      <path d="M56 40h100v122H56z" fill="var(--pic-white)" transform="rotate(-3 106 100)" />
      <path d="M160 40h104v122H160z" fill="var(--pic-white)" transform="rotate(2 210 100)" />
      <path d="M158 36v128" strokeWidth="3" />
      <rect x="80" y="62" width="52" height="34" rx="6" stroke="var(--accent)" />
      <circle cx="90" cy="104" r="8" stroke="var(--accent)" />
      <circle cx="122" cy="104" r="8" stroke="var(--accent)" />
      <path d="M106 62V48m-34 74h66m-66 12h48" stroke="var(--pic-dark)" />
      <path d="M178 62h66m-66 16h52m-52 16h60m-60 16h40" stroke="var(--pic-dark)" />
      <path d="m180 136 10 8 16-18" stroke="var(--pic-green)" strokeWidth="4" />
      <path d="m250 172 40-54 10 8-40 54-13 5z" fill="var(--pic-yellow)" />
      <path d="m286 122 10 8" />
    </Picture>
  )
}

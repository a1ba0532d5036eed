import type { ReactNode } from 'react'

/** Scenes of a class at home, in one frame of 320 × 220. */
function Scene({ children }: { children: ReactNode }) {
  return (
    <svg
      viewBox="0 0 320 220"
      fill="none"
      stroke="var(--pic-line)"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {children}
    </svg>
  )
}

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

function Wheel({ x, y, r = 16 }: { x: number; y: number; r?: number }) {
  return (
    <>
      <circle cx={x} cy={y} r={r} fill="var(--pic-screen)" />
      <circle cx={x} cy={y} r={r * 0.5} fill="var(--pic-light)" />
      <circle cx={x} cy={y} r="1.5" />
    </>
  )
}

export function KitOnTable() {
  return (
    <Scene>
      <Table />
      <path d="M98 84 76 60l60-4 24 28z" fill="var(--pic-wood-deep)" />
      <path d="M222 84l22-24-60-4-24 28z" fill="var(--pic-wood-deep)" />
      <rect x="128" y="46" width="40" height="60" rx="5" fill="var(--pic-blue)" transform="rotate(-8 148 76)" />
      <path d="m133 60 26-4m-25 12 18-3" stroke="var(--pic-white)" />
      <Wheel x={193} y={72} r={20} />
      <path d="M98 84h124v94H98z" fill="var(--pic-wood)" />
      <path d="M148 84h24v20h-24z" fill="var(--pic-orange)" />
      <path d="M116 156h32m-32 10h22" />
      <circle cx="200" cy="158" r="10" fill="var(--pic-white)" />
      <path d="m195 158 4 4 6-8" />
      <g transform="translate(28 146)">
        <rect x="10" y="8" width="34" height="24" rx="3" fill="var(--pic-yellow)" />
        <path d="M44 20h10M0 14h10M0 26h10" />
      </g>
      <g transform="translate(244 150)">
        <path d="M12 28V14a10 10 0 0 1 20 0v14z" fill="var(--pic-red)" />
        <path d="M16 28v14m12-14v8" />
      </g>
    </Scene>
  )
}

export function LiveCall() {
  return (
    <Scene>
      <Table />
      <rect x="58" y="30" width="204" height="134" rx="10" fill="var(--pic-dark)" />
      <rect x="68" y="40" width="184" height="114" rx="4" fill="var(--pic-screen)" />
      <path d="M42 164h236l10 14H32z" fill="var(--pic-mid)" />
      <rect x="74" y="46" width="112" height="102" rx="4" fill="var(--pic-light)" stroke="none" />
      <path d="M96 148c0-26 14-36 34-36s34 10 34 36z" fill="var(--pic-blue)" />
      <circle cx="130" cy="88" r="22" fill="var(--pic-skin-2)" />
      <path d="M108 84c2-20 12-26 24-26s22 8 21 24c-10 0-14-4-18-10-6 8-14 12-27 12z" fill="var(--pic-line)" />
      <path d="M122 92v1m16-1v1m-13 7c3 3 8 3 11 0" />
      <g fill="var(--pic-light)">
        <rect x="192" y="46" width="54" height="30" rx="3" />
        <rect x="192" y="82" width="54" height="30" rx="3" />
        <rect x="192" y="118" width="54" height="30" rx="3" />
      </g>
      <path d="M206 76c0-9 6-12 13-12s13 3 13 12z" fill="var(--pic-red)" />
      <circle cx="219" cy="58" r="8" fill="var(--pic-skin-1)" />
      <path d="M206 112c0-9 6-12 13-12s13 3 13 12z" fill="var(--pic-green)" />
      <circle cx="219" cy="94" r="8" fill="var(--pic-skin-3)" />
      <path d="M206 148c0-9 6-12 13-12s13 3 13 12z" fill="var(--pic-yellow)" />
      <circle cx="219" cy="130" r="8" fill="var(--pic-skin-2)" />
      <circle cx="160" cy="35" r="1.5" />
    </Scene>
  )
}

/** Battery plus → switch → resistor → the LED's long leg; its short leg → battery minus. */
export function FirstCircuit() {
  return (
    <Scene>
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
    </Scene>
  )
}

export function CodeAndBoard() {
  return (
    <Scene>
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
    </Scene>
  )
}

export function TestTrack() {
  return (
    <Scene>
      <path d="M0 150h320v70H0z" fill="var(--pic-light)" stroke="none" />
      <path d="M0 150h320" />
      <path d="M20 192c60-24 110 14 160-8s70-26 124-8" strokeWidth="3" strokeDasharray="10 9" />
      <path d="m240 150 14-46 14 46z" fill="var(--pic-orange)" />
      <path d="m246 130 16 0" stroke="var(--pic-white)" strokeWidth="6" />
      <path d="M232 150h44" strokeWidth="4" />
      <path d="M292 150V70" strokeWidth="3" />
      <path d="M292 72h-36l10 12-10 12h36z" fill="var(--pic-green)" />
      <path d="M188 104a30 30 0 0 1 0 36m12-46a46 46 0 0 1 0 56" stroke="var(--pic-blue)" />
      <path d="M84 92h72l16 26v30H72v-30z" fill="var(--pic-white)" />
      <rect x="96" y="66" width="46" height="28" rx="6" fill="var(--accent)" />
      <circle cx="110" cy="80" r="5" fill="var(--pic-white)" />
      <circle cx="128" cy="80" r="5" fill="var(--pic-white)" />
      <path d="M119 66V52" />
      <circle cx="119" cy="49" r="4" fill="var(--pic-red)" />
      <path d="M86 122h62" stroke="var(--accent)" strokeWidth="4" />
      <Wheel x={94} y={150} r={19} />
      <Wheel x={152} y={150} r={19} />
    </Scene>
  )
}

export function Notebook() {
  return (
    <Scene>
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
    </Scene>
  )
}

import type { ReactNode } from 'react'
import { type Part, partsOf, type Wire, type Wiring, wiresOf } from '../reading/wiring.ts'
import {
  boardPins,
  columnsAt,
  cornersOf,
  holePoint,
  type Pin,
  rowAt,
  rows,
  terminalPoint,
  wirePath,
} from './wiring-geometry.ts'

/** The text styles of the drawing. */
const lettering = { fontFamily: 'var(--mono)', fill: 'var(--pic-line)', stroke: 'none' }
const letters = {
  used: { ...lettering, fontSize: 12, fontWeight: 700 },
  pin: { ...lettering, fontSize: 7.5, opacity: 0.75 },
  small: { ...lettering, fontSize: 8 },
  label: { ...lettering, fontSize: 11.5, fontWeight: 600 },
}

/**
 * A circuit, drawn from the same data as its building steps. Not drawn in the browser: the files
 * in `web/drawings` are written by WiringDrawing.test.tsx, which also checks that they are up to date.
 */
export function WiringDrawing({ wiring }: { wiring: Wiring }) {
  const wires = wiresOf(wiring)
  const parts = partsOf(wiring)
  const used = new Set(wires.flatMap(({ from, to }) => [from, to]).map((terminal) => terminal.replace(/^board\./, '')))
  // Boards and modules lie below the wires; what is plugged into the breadboard lies above them.
  const [below, above] = [parts.filter((part) => !isPlugged(part)), parts.filter(isPlugged)]
  return (
    <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 360 352">
      <Board used={used} />
      {below.map((part) => (
        <PartDrawing key={part.kind} part={part} />
      ))}
      {wires.map((wire) => (
        <WireDrawing key={`${wire.from} ${wire.to}`} wire={wire} />
      ))}
      {above.map((part) => (
        <PartDrawing key={part.kind === 'resistor' ? part.value : part.kind} part={part} />
      ))}
    </svg>
  )
}

const isPlugged = ({ kind }: Part) => kind === 'resistor' || kind === 'led' || kind === 'button'

const colors: Record<Wire['color'], string> = {
  red: 'var(--pic-red)',
  black: 'var(--pic-screen)',
  orange: 'var(--pic-orange)',
  blue: 'var(--pic-blue)',
  green: 'var(--pic-green)',
  yellow: 'var(--pic-yellow)',
}

function WireDrawing({ wire }: { wire: Wire }) {
  const [from, to] = [terminalPoint(wire.from), terminalPoint(wire.to)]
  const path = wirePath(from, to, cornersOf(wire))
  return (
    <>
      <path d={path} strokeWidth="6" />
      <path d={path} strokeWidth="3" stroke={colors[wire.color]} />
      {[from, to].map(([x, y]) => (
        <circle key={`${x} ${y}`} cx={x} cy={y} r="3.2" fill={colors[wire.color]} strokeWidth="1.5" />
      ))}
    </>
  )
}

/** The label beside a pin on the board. */
const printed = ({ name }: Pin) => (name.startsWith('power-GND') ? 'GND' : name)

function Board({ used }: { used: ReadonlySet<string> }) {
  return (
    <>
      <rect x="24" y="18" width="118" height="296" rx="8" fill="var(--pic-green)" />
      <path d="M34 24h40" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="42" y="6" width="26" height="36" rx="3" fill="var(--pic-screen)" />
      <rect x="76" y="4" width="32" height="34" rx="3" fill="var(--pic-mid)" />
      <path d="M82 12h20" stroke="var(--pic-dark)" />
      <rect x="62" y="216" width="34" height="72" rx="3" fill="var(--pic-screen)" />
      <path
        d="M62 226h-4m4 12h-4m4 12h-4m4 12h-4m4 12h-4m42-48h4m-4 12h4m-4 12h4m-4 12h4m-4 12h4"
        strokeWidth="2"
        stroke="var(--pic-mid)"
      />
      <circle cx="79" cy="224" r="2.5" fill="var(--pic-mid)" stroke="none" />
      <circle cx="56" cy="62" r="7" fill="var(--pic-mid)" />
      <circle cx="56" cy="62" r="3" fill="var(--pic-red)" stroke="none" />
      <rect x="126" y="37" width="12" height="140" rx="2" fill="var(--pic-screen)" />
      <rect x="126" y="185" width="12" height="112" rx="2" fill="var(--pic-screen)" />
      <rect x="28" y="89" width="12" height="112" rx="2" fill="var(--pic-screen)" />
      <rect x="28" y="213" width="12" height="84" rx="2" fill="var(--pic-screen)" />
      {boardPins.map((pin) => {
        const [x, y] = pin.at
        const isUsed = used.has(pin.name)
        return (
          <g key={`${pin.side} ${pin.name}`} stroke="none">
            <rect x={x - 2} y={y - 2} width="4" height="4" fill="var(--pic-mid)" />
            {pin.name && (
              <text
                x={pin.side === 'right' ? x - 9 : x + 9}
                y={y + (isUsed ? 4 : 3)}
                textAnchor={pin.side === 'right' ? 'end' : 'start'}
                {...(isUsed ? letters.used : letters.pin)}
              >
                {printed(pin)}
              </text>
            )}
          </g>
        )
      })}
    </>
  )
}

function PartDrawing({ part }: { part: Part }) {
  switch (part.kind) {
    case 'breadboard':
      return <Breadboard />
    case 'resistor':
      return <Resistor {...part} />
    case 'led':
      return <Led {...part} />
    case 'button':
      return <Button {...part} />
    case 'driver':
      return <Driver />
    case 'motor':
      return <Motor />
    case 'battery':
      return <Battery {...part} />
    case 'servo':
      return <Servo />
    default:
      return part satisfies never
  }
}

function Breadboard() {
  const [top, bottom] = [rowAt(1), rowAt(rows)]
  return (
    <>
      <rect x="152" y="22" width="186" height={bottom - 8} rx="6" fill="var(--pic-white)" />
      <path d={`M256 30V${bottom + 6}`} stroke="var(--pic-mid)" strokeWidth="8" strokeLinecap="butt" />
      <path d={`M158 ${top - 4}V${bottom + 4}`} stroke="var(--pic-blue)" strokeWidth="2.5" />
      <path d={`M182 ${top - 4}V${bottom + 4}`} stroke="var(--pic-red)" strokeWidth="2.5" />
      {columnsAt.map(([name, x]) => (
        <g key={name}>
          <path d={`M${x} ${top}V${bottom}`} stroke="var(--pic-dark)" strokeDasharray="0 14" strokeWidth="4" />
          <text x={x} y="35" textAnchor="middle" {...letters.small}>
            {name === '-' ? '−' : name}
          </text>
        </g>
      ))}
      {/* Beyond the last column, where no part and no wire hides them */}
      {[1, 5, 10, 15, 20].map((number) => (
        <text key={number} x="328" y={rowAt(number) + 3} textAnchor="middle" {...letters.small}>
          {number}
        </text>
      ))}
    </>
  )
}

const bands = {
  '220 Ω': ['var(--pic-red)', 'var(--pic-red)', 'var(--pic-wood-deep)'],
  '10 kΩ': ['var(--pic-wood-deep)', 'var(--pic-screen)', 'var(--pic-orange)'],
}

function Resistor({ value, from, to }: Extract<Part, { kind: 'resistor' }>) {
  const [[x, top], [, bottom]] = [holePoint(from), holePoint(to)]
  const middle = (top + bottom) / 2
  return (
    <>
      <path d={`M${x} ${top}V${bottom}`} strokeWidth="2.5" />
      <rect x={x - 6} y={middle - 15} width="12" height="30" rx="5" fill="var(--pic-skin-1)" />
      {bands[value].map((color, index) => (
        <path
          key={index}
          d={`M${x - 5} ${middle - 8 + index * 6}h10`}
          stroke={color}
          strokeWidth="3"
          strokeLinecap="butt"
        />
      ))}
      <Label x={x + 12} y={middle + 4} ground="var(--pic-white)">
        {value}
      </Label>
    </>
  )
}

function Led({ anode, cathode }: Extract<Part, { kind: 'led' }>) {
  const [[ax, ay], [, cy]] = [holePoint(anode), holePoint(cathode)]
  const middle = (ay + cy) / 2
  const x = ax + 34
  return (
    <>
      <circle cx={x + 8} cy={middle} r="22" fill="var(--pic-yellow)" opacity=".25" stroke="none" />
      <path d={`M${ax} ${ay}H${x}M${ax} ${cy}H${x}`} strokeWidth="2.5" />
      <path d={`M${x} ${middle - 12}h10a12 12 0 0 1 0 24h-10z`} fill="var(--pic-yellow)" />
      <rect x={x - 4} y={middle - 14} width="6" height="28" rx="2" fill="var(--pic-yellow)" />
      <path d={`M${x + 8} ${middle - 6}q6 0 7 5`} stroke="var(--pic-shine)" strokeWidth="2.5" />
      <Label x={ax + 3} y={ay + 16} ground="var(--pic-white)">
        long leg
      </Label>
    </>
  )
}

function Button({ rows: [upper, lower] }: Extract<Part, { kind: 'button' }>) {
  const [top, bottom] = [rowAt(upper), rowAt(lower)]
  const middle = (top + bottom) / 2
  return (
    <>
      <path d={`M244 ${top}h24M244 ${bottom}h24`} strokeWidth="5" />
      <rect x="241" y={middle - 15} width="30" height="30" rx="4" fill="var(--pic-mid)" />
      <circle cx="256" cy={middle} r="9" fill="var(--pic-red)" />
      <path d={`M251 ${middle - 3}q2-3 5-3`} stroke="var(--pic-shine)" />
    </>
  )
}

function Driver() {
  return (
    <>
      <rect x="194" y="142" width="156" height="176" rx="8" fill="var(--pic-red)" />
      <path d="M238 148h40" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="270" y="190" width="62" height="90" rx="4" fill="var(--pic-screen)" />
      <path d="M280 190v90m10-90v90m10-90v90m10-90v90m10-90v90" stroke="var(--pic-dark)" />
      <rect x="194" y="155" width="20" height="54" rx="3" fill="var(--pic-blue)" />
      <rect x="282" y="142" width="40" height="20" rx="3" fill="var(--pic-blue)" />
      <rect x="282" y="298" width="40" height="20" rx="3" fill="var(--pic-blue)" />
      <rect x="196" y="216" width="16" height="96" rx="2" fill="var(--pic-screen)" />
      {(['12V', 'GND', '5V', 'ENA', 'IN1', 'IN2'] as const).map((name) => {
        const [x, y] = terminalPoint(`driver.${name}`)
        return (
          <Pinned key={name} x={x} y={y}>
            {name}
          </Pinned>
        )
      })}
      {[272, 288, 304].map((y) => (
        <circle key={y} cx="204" cy={y} r="2.5" fill="var(--pic-mid)" stroke="none" />
      ))}
      <text x="292" y="176" textAnchor="middle" {...letters.used}>
        OUT1
      </text>
      <text x="326" y="176" textAnchor="middle" {...letters.used}>
        2
      </text>
      <Label x={301} y={336} anchor="middle">
        L298N driver
      </Label>
    </>
  )
}

function Pinned({ x, y, children }: { x: number; y: number; children: string }) {
  return (
    <>
      <circle cx={x} cy={y} r="2.5" fill="var(--pic-mid)" stroke="none" />
      <text x={x + 14} y={y + 4} {...letters.used}>
        {children}
      </text>
    </>
  )
}

function Motor() {
  return (
    <>
      <path d="M292 100V84m20 16V84" strokeWidth="3" />
      <path d="M336 48h16" strokeWidth="7" />
      <path d="M336 48h16" strokeWidth="3" stroke="var(--pic-mid)" />
      <rect x="266" y="24" width="70" height="48" rx="8" fill="var(--pic-yellow)" />
      <rect x="278" y="68" width="48" height="18" rx="5" fill="var(--pic-mid)" />
      <path d="M276 32h26" stroke="var(--pic-shine)" strokeWidth="3" />
      <circle cx="322" cy="48" r="7" fill="var(--pic-white)" />
      <Label x={301} y={15} anchor="middle">
        motor, 3 to 6 V
      </Label>
    </>
  )
}

function Battery({ cells }: Extract<Part, { kind: 'battery' }>) {
  return (
    <>
      <path d="M166 104V92m14 12V92" strokeWidth="3" />
      <rect x="154" y="24" width="90" height="70" rx="6" fill="var(--pic-screen)" />
      {Array.from({ length: cells }, (_, index) => 30 + 16 * index).map((y) => (
        <g key={y}>
          <rect x="160" y={y} width="72" height="11" rx="3" fill="var(--pic-orange)" strokeWidth="1.5" />
          <path d={`M234 ${y + 3}v5`} strokeWidth="3" stroke="var(--pic-mid)" />
        </g>
      ))}
      <Label x={199} y={15} anchor="middle">
        {`${cells} AA, ${cells * 1.5} V`}
      </Label>
      <text x="158" y="118" textAnchor="middle" {...letters.label}>
        −
      </text>
      <text x="192" y="118" textAnchor="middle" {...letters.label}>
        +
      </text>
    </>
  )
}

function Servo() {
  return (
    <>
      <rect x="232" y="140" width="96" height="92" rx="8" fill="var(--pic-blue)" />
      <path d="M242 148h34" stroke="var(--pic-shine)" strokeWidth="3" />
      <rect x="196" y="160" width="14" height="52" rx="3" fill="var(--pic-screen)" />
      <path d="M210 170h10q6 0 12 6M210 186h22M210 202h10q6 0 12-6" strokeWidth="4" />
      <path d="M210 170h10q6 0 12 6" stroke="var(--pic-orange)" />
      <path d="M210 186h22" stroke="var(--pic-red)" />
      <path d="M210 202h10q6 0 12-6" stroke="var(--pic-wood-deep)" />
      <rect x="216" y="176" width="16" height="20" rx="3" fill="var(--pic-blue)" />
      <rect x="328" y="176" width="16" height="20" rx="3" fill="var(--pic-blue)" />
      <circle cx="224" cy="186" r="3" fill="var(--pic-white)" />
      <circle cx="336" cy="186" r="3" fill="var(--pic-white)" />
      <path d="M272 186 312 84q6-8 13-3 6 5 2 13l-43 98z" fill="var(--pic-white)" />
      <circle cx="280" cy="186" r="18" fill="var(--pic-white)" />
      <circle cx="280" cy="186" r="6" fill="var(--pic-mid)" />
      <circle cx="318" cy="88" r="2" fill="var(--pic-line)" />
      <circle cx="310" cy="106" r="2" fill="var(--pic-line)" />
      <path d="M218 118a92 92 0 0 1 66-34m-66 34 2-12m-2 12 12 1" stroke="var(--accent)" strokeDasharray="none" />
      <Label x={280} y={252} anchor="middle">
        servo
      </Label>
      <Label x={186} y={158}>
        signal
      </Label>
    </>
  )
}

function Label({
  x,
  y,
  anchor = 'start',
  ground,
  children,
}: {
  x: number
  y: number
  anchor?: 'start' | 'middle'
  /** Keeps labels clear of holes, legs and the gap. */
  ground?: string
  children: ReactNode
}) {
  return (
    <text
      x={x}
      y={y}
      textAnchor={anchor}
      {...letters.label}
      {...(ground && { stroke: ground, strokeWidth: 5, paintOrder: 'stroke' })}
    >
      {children}
    </text>
  )
}

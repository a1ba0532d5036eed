import type { Text } from './text.ts'

type WireColor = 'red' | 'black' | 'orange' | 'blue' | 'green' | 'yellow'

/** The lettered columns of a breadboard; five holes of a row on one side of the gap are one piece of metal. */
const columns = 'abcdefghij'
type Column = 'a' | 'b' | 'c' | 'd' | 'e' | 'f' | 'g' | 'h' | 'i' | 'j'

/** `c9`: column c, row 9. `+15` and `-15`: the red and the blue rail on the left, beside row 15. */
export type Hole = `${Column | '+' | '-'}${number}`

/** The end of a wire: a pin of the board, a hole of the breadboard, or a terminal of a part. */
export type Terminal =
  | `board.${string}`
  | `hole.${Hole}`
  | `driver.${'12V' | 'GND' | '5V' | 'ENA' | 'IN1' | 'IN2' | 'OUT1' | 'OUT2'}`
  | `battery.${'plus' | 'minus'}`
  | `motor.${1 | 2}`
  | `servo.${'signal' | '5V' | 'GND'}`

export interface Wire {
  from: Terminal
  to: Terminal
  color: WireColor
}

export type Part =
  | { kind: 'breadboard' }
  | { kind: 'resistor'; value: '220 Ω' | '10 kΩ'; from: Hole; to: Hole }
  | { kind: 'led'; anode: Hole; cathode: Hole }
  /** Legs that face each other across the gap belong together; pressing joins the two rows. */
  | { kind: 'button'; rows: readonly [upper: number, lower: number] }
  | { kind: 'driver' }
  | { kind: 'motor' }
  /** A holder for so many AA cells, of 1.5 V each. */
  | { kind: 'battery'; cells: number }
  | { kind: 'servo' }

/** A circuit's building steps, from which both the drawing and the text are made. */
export interface Wiring {
  /** The drawing's name: `web/drawings/wiring-<id>.svg`. */
  id: string
  /** The alternative text of the drawing. */
  title: string
  steps: readonly {
    text: Text
    parts?: readonly Part[]
    wire?: Wire
    /** Wires that stay from the circuit before. */
    kept?: readonly Wire[]
  }[]
}

export const wiresOf = ({ steps }: Wiring): Wire[] =>
  steps.flatMap(({ wire, kept }) => [...(wire ? [wire] : []), ...(kept ?? [])])
export const partsOf = ({ steps }: Wiring): Part[] => steps.flatMap(({ parts }) => parts ?? [])

export function holeAt(hole: Hole): { column: string; row: number } {
  return { column: hole.slice(0, 1), row: Number(hole.slice(1)) }
}

/** The piece of metal behind a hole: all holes of one piece are connected. */
export function metalOf(hole: Hole): string {
  const { column, row } = holeAt(hole)
  if (column === '+' || column === '-') return `rail ${column}`
  return `row ${row} ${columns.indexOf(column) < 5 ? 'left' : 'right'}`
}

import { type Hole, holeAt, type Terminal, type Wire } from '../reading/wiring.ts'

export type Point = readonly [x: number, y: number]

/** Distance from pin to pin, and from row to row. */
const pitch = 14

/** The headers of an Uno, lying with its USB socket up: digital pins on the right, power on the left. */
const digitalPins = ['SCL', 'SDA', 'AREF', 'GND', '13', '12', '11', '10', '9', '8']
const lowDigitalPins = ['7', '6', '5', '4', '3', '2', '1', '0']
const powerPins = ['', 'IOREF', 'RESET', '3.3V', '5V', 'power-GND', 'power-GND-2', 'VIN']
const analogPins = ['A0', 'A1', 'A2', 'A3', 'A4', 'A5']

export interface Pin {
  name: string
  at: Point
  side: 'left' | 'right'
}

const row = (names: readonly string[], x: number, top: number, side: Pin['side']): Pin[] =>
  names.map((name, index) => ({ name, at: [x, top + pitch * index], side }))

export const boardPins: readonly Pin[] = [
  ...row(digitalPins, 132, 44, 'right'),
  ...row(lowDigitalPins, 132, 192, 'right'),
  ...row(powerPins, 34, 96, 'left'),
  ...row(analogPins, 34, 220, 'left'),
]

/** Rows of the breadboard, in the height of the board's pins. */
export const rows = 20
export const rowAt = (number: number) => 44 + pitch * (number - 1)
const columnAt: Record<string, number> = {
  '-': 164,
  '+': 176,
  a: 196,
  b: 208,
  c: 220,
  d: 232,
  e: 244,
  f: 268,
  g: 280,
  h: 292,
  i: 304,
  j: 316,
}
export const columnsAt = Object.entries(columnAt)

export function holePoint(hole: Hole): Point {
  const { column, row } = holeAt(hole)
  const x = columnAt[column]
  if (x === undefined || row < 1 || row > rows) throw new Error(`There is no hole ${hole}`)
  return [x, rowAt(row)]
}

const partTerminals: Record<string, Point> = {
  'driver.12V': [204, 164],
  'driver.GND': [204, 182],
  'driver.5V': [204, 200],
  'driver.ENA': [204, 224],
  'driver.IN1': [204, 240],
  'driver.IN2': [204, 256],
  'driver.IN3': [204, 272],
  'driver.IN4': [204, 288],
  'driver.ENB': [204, 304],
  'driver.OUT1': [292, 152],
  'driver.OUT2': [312, 152],
  'battery.minus': [166, 104],
  'battery.plus': [180, 104],
  'motor.1': [292, 100],
  'motor.2': [312, 100],
  'servo.signal': [202, 170],
  'servo.5V': [202, 186],
  'servo.GND': [202, 202],
}

export function terminalPoint(terminal: Terminal): Point {
  const [part, name] = terminal.split(/\.(.*)/) as [string, string]
  if (part === 'hole') return holePoint(name as Hole)
  const point = part === 'board' ? boardPins.find((pin) => pin.name === name)?.at : partTerminals[terminal]
  if (!point) throw new Error(`There is no terminal ${terminal}`)
  return point
}

/** Corners of wires that go around something. A separate module from the guides' steps, as no page loads it. */
const corners: Record<string, readonly Point[]> = {
  'board.5V hole.+20': [
    [12, 152],
    [12, 336],
    [176, 336],
  ],
  'board.GND driver.GND': [
    [152, 86],
    [152, 190],
    [196, 190],
  ],
  'board.5V driver.5V': [
    [12, 152],
    [12, 336],
    [180, 336],
    [180, 200],
  ],
  'battery.minus driver.GND': [[166, 182]],
  'battery.plus driver.12V': [[180, 164]],
  'servo.5V board.5V': [
    [166, 186],
    [166, 338],
    [10, 338],
    [10, 152],
  ],
  'servo.GND board.power-GND': [
    [180, 202],
    [180, 324],
    [20, 324],
    [20, 166],
  ],
}

export const cornersOf = ({ from, to }: Wire): readonly Point[] => corners[`${from} ${to}`] ?? []

/** A wire's path: a soft curve, or with corners that are rounded. */
export function wirePath(from: Point, to: Point, via: readonly Point[]): string {
  if (via.length === 0) {
    const upright = Math.abs(to[0] - from[0]) < 4
    const bend = Math.max(14, Math.abs(to[0] - from[0]) * 0.45)
    return upright || Math.abs(to[0] - from[0]) < 40
      ? `M${from.join(' ')} L${to.join(' ')}`
      : from[0] < to[0]
        ? `M${from.join(' ')} C${from[0] + bend} ${from[1]} ${to[0] - bend} ${to[1]} ${to.join(' ')}`
        : `M${from.join(' ')} C${from[0] - bend} ${from[1]} ${to[0] + bend} ${to[1]} ${to.join(' ')}`
  }
  const points = [from, ...via, to]
  const toward = (a: Point, b: Point, by: number): Point => {
    const length = Math.hypot(b[0] - a[0], b[1] - a[1])
    const part = Math.min(by, length / 2) / length
    return [a[0] + (b[0] - a[0]) * part, a[1] + (b[1] - a[1]) * part]
  }
  let path = `M${from.join(' ')}`
  for (let at = 1; at < points.length - 1; at++) {
    const [before, corner, after] = points.slice(at - 1, at + 2) as [Point, Point, Point]
    path += ` L${toward(corner, before, 10).join(' ')} Q${corner.join(' ')} ${toward(corner, after, 10).join(' ')}`
  }
  return `${path} L${to.join(' ')}`
}

import { sizes } from './drawing-sizes.ts'

/** Those of what is read, all of one size. */
const readingNames = [
  'welcome',
  'shield',
  'launch',
  'bug-robot',
  'roach-robot',
  'bee-robot',
  'led-and-button',
  'gear-motor',
  'servo-arm',
  'letter',
  'document',
  'pin-board',
  'filming',
  'video',
  'photo',
  'founder',
  'director',
] as const

/** Every drawing: what a page shows it asks for by its name alone. */
export const drawingNames = [...Object.keys(sizes), ...readingNames] as DrawingName[]

export type DrawingName = keyof typeof sizes | (typeof readingNames)[number]

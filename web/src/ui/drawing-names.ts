import { sizes } from './drawing-sizes.ts'

/** The drawings of articles, all of one size. */
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

/** The names of all drawings. */
export const drawingNames = [...Object.keys(sizes), ...readingNames] as DrawingName[]

export type DrawingName = keyof typeof sizes | (typeof readingNames)[number]

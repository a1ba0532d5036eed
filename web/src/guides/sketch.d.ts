/** A sketch highlighted at build time: its lines, split into tokens. */
declare module '*.ino?highlight' {
  import type { SketchLines } from '../reading/blocks.ts'

  const lines: SketchLines
  export default lines
}

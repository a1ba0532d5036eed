/** A sketch highlighted at build time: its lines, split into tokens. */
declare module '*.ino?highlight' {
  const lines: import('../reading/blocks.ts').SketchLines
  export default lines
}

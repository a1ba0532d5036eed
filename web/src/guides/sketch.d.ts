/** A sketch highlighted at build time: its lines, split into tokens. */
declare module '*.ino?highlight' {
  const lines: readonly (readonly [text: string, kind?: string])[][]
  export default lines
}

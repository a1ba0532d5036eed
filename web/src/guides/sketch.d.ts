/** A sketch highlighted at build time: its lines, split into tokens. */
declare module '*.ino?highlight' {
  const lines: readonly (readonly [text: string, kind?: 'keyword' | 'function' | 'string' | 'number' | 'comment'])[][]
  export default lines
}

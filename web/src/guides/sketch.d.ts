/** A sketch as it was coloured at build time: its lines, each in pieces of one kind. */
declare module '*.ino?highlight' {
  const lines: readonly (readonly [text: string, kind?: string])[][]
  export default lines
}

/** Global style sheets, by name: a pattern for all would hide the classes of CSS modules, declared in `css-modules.d.ts`. */
declare module '*/tokens.css' {}
declare module '*/base.css' {}

declare module '*?url' {
  const address: string
  export default address
}

/** The global style sheets. CSS modules have their own declarations, in `css-modules.d.ts`. */
declare module '*/base.css' {}
declare module '*/tokens.css' {}

declare module '*?url' {
  const address: string
  export default address
}

/** Global style sheets. CSS modules have their own declarations, in `css-modules.d.ts`. */
declare module '*.css' {}

declare module '*?url' {
  const address: string
  export default address
}

/** The site's style sheet, taken apart by the build (`StyleRule`s); nothing while developing, when Vite puts the styles in. */
declare module 'virtual:style-rules' {
  const rules: { css: string; around: string; classes: string[][] }[]
  export default rules
}

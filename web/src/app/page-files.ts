/** What a page loads, by its addresses. */
export interface PageFiles {
  script: string
  styles: string[]
  /** The files that the script asks for at once. */
  preloads: string[]
}

/** What the build made of the modules of `src`. */
export interface ClientFiles extends PageFiles {
  /** Those in which the module, `../home/Home.tsx` as the router names it, is, with what they ask for at once. */
  filesOf: (module: string) => string[]
}

/** The files that a page loads. */
export interface PageFiles {
  script: string
  styles: string[]
  /** The script's static imports. */
  preloads: string[]
}

/** Where the build put the modules of `src`. */
export interface ClientFiles extends PageFiles {
  /** The files that contain a module (`../home/Home.tsx`, as the router imports it), with their static imports. */
  filesOf: (module: string) => string[]
}

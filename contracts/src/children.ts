/** The maximum number of children per registration. In a file without zod, which the form does not load. */
export const maxChildren = 10

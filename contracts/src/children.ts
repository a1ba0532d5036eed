/** A registration holds 1 to this many children. In a file without schemas: the form counts, and the server checks. */
export const maxChildren = 10

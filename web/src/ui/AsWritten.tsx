/** A name or an address as the family wrote it: who has the page translated is still called Rose, and lives on Oak Street. */
export function AsWritten({ children }: { children: string }) {
  return <span translate="no">{children}</span>
}

/** The same for a row that is left out, or replaced, where there is nothing to say. */
export const asWritten = (text: string) => text && <AsWritten>{text}</AsWritten>

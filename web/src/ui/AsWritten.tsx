/** Excludes a name or an address from page translation: Rose stays Rose. */
export function AsWritten({ children }: { children: string }) {
  return <span translate="no">{children}</span>
}

/** The same, but undefined for an empty text. */
export const asWritten = (text: string) => text && <AsWritten>{text}</AsWritten>

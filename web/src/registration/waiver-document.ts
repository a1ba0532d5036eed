import { queryOptions } from '@tanstack/react-query'

export const waiverAddress = '/waiver.pdf'

async function sha256Of(content: ArrayBuffer): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', content)
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Which document the page shows: its SHA-256 goes with the signature. */
export const waiverDocumentQuery = queryOptions({
  queryKey: ['waiver-document'],
  queryFn: async ({ signal }) => {
    const response = await fetch(waiverAddress, { signal })
    if (!response.ok) throw new Error(`The waiver answered ${response.status}.`)
    return response.headers.get('x-document-sha256') ?? (await sha256Of(await response.arrayBuffer()))
  },
  // The one that is read is the one that is signed, however long that takes.
  staleTime: Infinity,
})

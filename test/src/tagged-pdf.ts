import { getDocumentProxy } from 'unpdf'

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>
type StructTree = NonNullable<Awaited<ReturnType<PdfPage['getStructTree']>>>
type StructNode = StructTree | StructTree['children'][number]

/** A part of a document as a screen reader sees it: its role, and its text including nested parts. */
export interface TaggedPart {
  role: string
  text: string
}

export interface TaggedPdf {
  title: unknown
  language: unknown
  /** Whether viewers show the title instead of the file name. */
  displaysTitle: boolean
  isMarked: boolean
  /** All parts in reading order, parents first; a part that continues on another page is listed once per page. */
  parts: TaggedPart[]
  /** The text in reading order. */
  text: string
  /** Text outside all parts that is not marked as decoration, which screen readers skip or read in the wrong place. */
  untagged: string
}

/** Normalizes white space, which depends on the layout. */
const words = (text: string) => text.replaceAll(/\s+/gu, ' ').trim()

/** The text of a page by marked-content id, and its unmarked text. */
async function textOf(page: PdfPage) {
  const { items } = await page.getTextContent({ includeMarkedContent: true })
  const marked = new Map<string, string>()
  /** Open marked content: its id, null for decoration, and empty for formatting marks. */
  const open: (string | null)[] = []
  let untagged = ''
  for (const item of items) {
    if ('str' in item) {
      const id = open.findLast((one) => one !== '')
      const text = item.str + (item.hasEOL ? '\n' : '')
      if (id === undefined) untagged += text
      else if (id !== null) marked.set(id, (marked.get(id) ?? '') + text)
    } else if (item.type === 'endMarkedContent') open.pop()
    // The library's types lack the tag.
    else open.push('tag' in item && item.tag === 'Artifact' ? null : (item.id ?? ''))
  }
  return { marked, untagged }
}

/** Reads a tagged PDF like a screen reader. */
export async function readTaggedPdf(pdf: Uint8Array): Promise<TaggedPdf> {
  const document = await getDocumentProxy(pdf.slice())
  const parts: TaggedPart[] = []
  let text = ''
  let untagged = ''
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number)
    const content = await textOf(page)
    const read = (node: StructNode): string => {
      if (!('children' in node)) return 'id' in node ? `${content.marked.get(node.id) ?? ''}\n` : ''
      const part = { role: node.role, text: '' }
      if (node.role !== 'Root') parts.push(part)
      part.text = node.children.map(read).join('')
      return part.text
    }
    const tree = await page.getStructTree()
    if (tree) text += read(tree)
    untagged += content.untagged
  }
  const [{ info }, marks, preferences] = await Promise.all([
    document.getMetadata(),
    document.getMarkInfo(),
    document.getViewerPreferences(),
  ])
  const known = info as Record<string, unknown>
  return {
    title: known['Title'],
    language: known['Language'],
    displaysTitle: Boolean((preferences as Record<string, unknown> | null)?.['DisplayDocTitle']),
    isMarked: Boolean((marks as Record<string, unknown> | null)?.['Marked']),
    parts: parts.map((part) => ({ ...part, text: words(part.text) })),
    text: words(text),
    untagged: words(untagged),
  }
}

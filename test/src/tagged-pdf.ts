import { getDocumentProxy } from 'unpdf'

type PdfPage = Awaited<ReturnType<Awaited<ReturnType<typeof getDocumentProxy>>['getPage']>>
type StructTree = NonNullable<Awaited<ReturnType<PdfPage['getStructTree']>>>
type StructNode = StructTree | StructTree['children'][number]

/** A part of a document as a screen reader takes it: what it is, and its text, of the parts within it as well. */
export interface TaggedPart {
  role: string
  text: string
}

export interface TaggedPdf {
  title: unknown
  language: unknown
  /** Whether readers show the title in place of the file's name. */
  displaysTitle: boolean
  isMarked: boolean
  /** Every part in reading order, each before those within it; one that goes on on another page is there once for each. */
  parts: TaggedPart[]
  /** The text in reading order. */
  text: string
  /** Text that is in no part and not marked as decoration: screen readers read it nowhere, or anywhere. */
  untagged: string
}

/** White space is the layout's. */
const words = (text: string) => text.replaceAll(/\s+/gu, ' ').trim()

/** The text of a page by the id of what it is marked with, and what is marked with nothing. */
async function textOf(page: PdfPage) {
  const { items } = await page.getTextContent({ includeMarkedContent: true })
  const marked = new Map<string, string>()
  /** The ids of what is marked, null where that is decoration, and empty where it says how something is written. */
  const open: (string | null)[] = []
  let untagged = ''
  for (const item of items) {
    if ('str' in item) {
      const id = open.findLast((one) => one !== '')
      const text = item.str + (item.hasEOL ? '\n' : '')
      if (id === undefined) untagged += text
      else if (id !== null) marked.set(id, (marked.get(id) ?? '') + text)
    } else if (item.type === 'endMarkedContent') open.pop()
    // The types do not know the tag.
    else open.push('tag' in item && item.tag === 'Artifact' ? null : (item.id ?? ''))
  }
  return { marked, untagged }
}

/** Reads a tagged PDF as a screen reader does. */
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

import { readFile } from 'node:fs/promises'
import { createCssVariablesTheme, createHighlighter, type Highlighter } from 'shiki'
import type { Plugin } from 'vite'

/** What Shiki's small theme tells apart, by what it calls it, and what our style sheet calls it. */
const kinds = {
  'token-keyword': 'keyword',
  'token-function': 'function',
  'token-string': 'string',
  'token-string-expression': 'string',
  'token-constant': 'number',
  'token-comment': 'comment',
} as const

const theme = createCssVariablesTheme({ name: 'kinds', variablePrefix: '', fontStyle: false })
let highlighter: Promise<Highlighter> | undefined

/** A sketch's lines, each in pieces `[text, kind?]`: joined they are the file, without its last line break. */
async function highlight(source: string) {
  highlighter ??= createHighlighter({ themes: [theme], langs: ['cpp'] })
  // A limit in time would leave a line plain on a busy machine, and not in the other of the site's two builds.
  const lines = (await highlighter).codeToTokensBase(source.trimEnd(), { lang: 'cpp', theme, tokenizeTimeLimit: 0 })
  return lines.map((line) => {
    const pieces: [text: string, kind?: string][] = []
    for (const { content, color } of line) {
      const named = Object.entries(kinds).find(([name]) => color === `var(${name})`)?.[1]
      // It calls an object before its dot a constant too.
      const kind = named === 'number' && !/\d/.test(content) ? undefined : named
      const last = pieces.at(-1)
      // Blanks have no colour of their own: they go with what stands beside them.
      if (!last || (last[0].trim() && content.trim() && last[1] !== kind))
        pieces.push(kind ? [content, kind] : [content])
      else if (last[0].trim()) last[0] += content
      else pieces[pieces.length - 1] = kind ? [last[0] + content, kind] : [last[0] + content]
    }
    return pieces
  })
}

/** `import lines from './blink.ino?highlight'`: sketches are coloured while the site is built, and no highlighter is shipped. */
export const highlightSketches: Plugin = {
  name: 'highlight-sketches',
  enforce: 'pre',
  async load(id) {
    const [file, query] = id.split('?')
    if (query !== 'highlight' || !file?.endsWith('.ino')) return null
    this.addWatchFile(file)
    return `export default ${JSON.stringify(await highlight(await readFile(file, 'utf8')))}`
  },
}

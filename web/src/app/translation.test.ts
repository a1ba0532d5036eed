import { glob, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type ESTree, parseSync, Visitor } from 'vite'
import { expect, it } from 'vitest'

const src = join(import.meta.dirname, '..')

const isWord = (value: unknown) => typeof value === 'string' && value.trim() !== ''

function isWords(node: ESTree.Node): boolean {
  switch (node.type) {
    case 'JSXText':
    case 'Literal':
      return isWord(node.value)
    case 'TemplateLiteral':
      return true
    case 'JSXExpressionContainer':
      return isWords(node.expression)
    case 'LogicalExpression':
      return isWords(node.right)
    case 'ConditionalExpression':
      return isWords(node.consequent) || isWords(node.alternate)
    default:
      return false
  }
}

/** Expressions that React may change, remove or insert while the page is shown. */
function mayChange(node: ESTree.Node): boolean {
  return node.type === 'JSXExpressionContainer' && !['Literal', 'JSXEmptyExpression'].includes(node.expression.type)
}

/** Bare text nodes beside siblings that may change, with their lines. */
function bareWords(file: string, source: string): string[] {
  const found: string[] = []
  const check = (children: ESTree.Node[], alone: boolean) => {
    const shown = children.filter(
      (child) => child.type !== 'JSXText' || isWord(child.value) || !child.value.includes('\n'),
    )
    if (alone && (shown.length < 2 || !shown.some(mayChange))) return
    for (const words of shown.filter(isWords)) {
      const text = source.slice(words.start, words.end)
      const start = words.start + text.length - text.trimStart().length
      found.push(`${file}:${source.slice(0, start).split('\n').length} ${text.trim().replaceAll(/\s+/g, ' ')}`)
    }
  }
  new Visitor({
    JSXElement: ({ children }) => check(children, true),
    // Its text is bare in its parent.
    JSXFragment: ({ children }) => check(children, false),
  }).visit(parseSync(file, source).program)
  return found
}

it('finds words that stand bare beside what may change', () => {
  const found = (source: string) => bareWords('a.tsx', source)
  expect(found('<p>Total for {count}</p>')).toEqual(['a.tsx:1 Total for'])
  expect(found('<p>\n  {busy && <Sign />}\n  Send\n</p>')).toEqual(['a.tsx:3 Send'])
  expect(found("<p>{busy && <Sign />}{busy ? 'Sending' : 'Send'}</p>")).toEqual(["a.tsx:1 {busy ? 'Sending' : 'Send'}"])
  expect(found('<p>{known ? <>As <b>{name}</b></> : null}</p>')).toEqual(['a.tsx:1 As'])
  expect(found('<p>{`Total for ${count}`}</p>')).toEqual([])
  expect(found('<p>\n  {busy && <Sign />}\n  <span>Send</span>\n</p>')).toEqual([])
  expect(found("<p>\n  Please <a>log in</a>{' '}\n  first.\n</p>")).toEqual([])
})

it('has no words that stand bare beside what may change, where the translator of a browser would put elements in their place', async () => {
  const found: string[] = []
  for await (const file of glob('**/*.tsx', { cwd: src })) {
    found.push(...bareWords(file, await readFile(join(src, file), 'utf8')))
  }
  expect(found).toEqual([])
})

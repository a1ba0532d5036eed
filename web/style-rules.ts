import postcss, { type ChildNode } from 'postcss'

/** A rule of the style sheet, or something in it that is no rule. */
export interface StyleRule {
  css: string
  /** The beginnings of the at-rules around it. */
  around: string
  /** The classes of each of its selectors: it matters to a page that has all of one selector's. */
  classes: string[][]
}

/** The classes that an element and those around it must have. */
function classesOf(selector: string): string[] {
  const plain = selector.replaceAll(/:(?:not|has|is|where)\([^)]*\)/g, '')
  return [...plain.matchAll(/\.(-?[_a-z][\w-]*)/gi)].map(([, name = '']) => name)
}

/** Takes a style sheet apart. */
export function styleRules(css: string): StyleRule[] {
  const rulesOf = (nodes: ChildNode[] = [], around = ''): StyleRule[] =>
    nodes.flatMap((node): StyleRule[] => {
      if (node.type === 'comment') return []
      if (node.type === 'rule') return [{ css: node.toString(), around, classes: node.selectors.map(classesOf) }]
      if (node.type === 'atrule' && (node.name === 'media' || node.name === 'supports')) {
        return rulesOf(node.nodes, `${around}@${node.name} ${node.params}{`)
      }
      return [{ css: `${node.toString()}${node.type === 'atrule' && !node.nodes ? ';' : ''}`, around, classes: [[]] }]
    })
  return rulesOf(postcss.parse(css).nodes)
}

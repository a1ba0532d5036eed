import type { Page } from 'playwright-core'

/**
 * Changes the page as a browser's translation does (Google's, in Chrome): every text node, also later ones, is replaced
 * by elements. The text stays the same, so that tests find it. Returns the faults as they happen: a node
 * that the page's script did not find, or a text that it changed in a detached node.
 */
export async function translate(
  page: Page,
  from: 'the first moment' | 'when it answers' = 'when it answers',
): Promise<string[]> {
  const faults: string[] = []
  await page.exposeFunction('reportFault', (fault: string) => faults.push(fault))
  await page.addInitScript((atFirst) => {
    // Not in the browser's PDF viewer, which has its own document.
    if (!location.protocol.startsWith('http')) return
    const tell = (fault: string) => (window as unknown as { reportFault: (fault: string) => void }).reportFault(fault)

    // React finds text translated during hydration to differ from its own: it renders that part again and only reports it.
    addEventListener('error', (event) => {
      if (String(event.error).includes('React error #418')) event.preventDefault()
    })

    for (const name of ['insertBefore', 'removeChild'] as const) {
      const own = Node.prototype[name] as (this: Node, ...nodes: Node[]) => Node
      Node.prototype[name] = function (this: Node, ...nodes: Node[]) {
        try {
          return own.apply(this, nodes)
        } catch (error) {
          tell(`${name}: ${nodes.map((node) => node?.textContent).join(', ')}`)
          throw error
        }
      } as never
    }
    const nodeValue = Object.getOwnPropertyDescriptor(Node.prototype, 'nodeValue')!
    Object.defineProperty(Node.prototype, 'nodeValue', {
      ...nodeValue,
      set(this: Node, value: string) {
        if (!this.isConnected) tell(`nobody sees: ${value}`)
        nodeValue.set?.call(this, value)
      },
    })

    const wrap = (text: Text) => {
      const parent = text.parentElement
      if (!text.data.trim() || !parent) return
      if (parent.closest('font, script, style, noscript, svg, title, [translate="no"]')) return
      const [outer, inner] = [document.createElement('font'), document.createElement('font')]
      inner.textContent = text.data
      outer.append(inner)
      text.replaceWith(outer)
    }
    const wrapAll = (root: Node) => {
      const texts = document.createTreeWalker(root, NodeFilter.SHOW_TEXT)
      const all: Text[] = []
      while (texts.nextNode()) all.push(texts.currentNode as Text)
      for (const text of all) wrap(text)
    }
    const begin = () => {
      wrapAll(document.body)
      new MutationObserver((changes) => {
        for (const { target, addedNodes } of changes) {
          for (const node of [target, ...addedNodes]) {
            if (node instanceof Text) wrap(node)
            else if (node.isConnected) wrapAll(node)
          }
        }
      }).observe(document.body, { subtree: true, childList: true, characterData: true })
    }
    const beginInTime = () => {
      if (document.body && (atFirst || 'hydrated' in document.documentElement.dataset)) begin()
      else setTimeout(beginInTime, 5)
    }
    beginInTime()
  }, from === 'the first moment')
  return faults
}

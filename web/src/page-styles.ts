import rules from 'virtual:style-rules'

/** Of the site's style sheet what a page's markup is set with, in the same order. */
export function pageStyles(html: string): string {
  const classes = new Set([...html.matchAll(/ class="([^"]*)"/g)].flatMap(([, names = '']) => names.split(' ')))
  let css = ''
  let open = ''
  const goTo = (around: string) => {
    if (around === open) return
    css += `${'}'.repeat(open.split('{').length - 1)}${around}`
    open = around
  }
  for (const rule of rules) {
    if (!rule.classes.some((names) => names.every((name) => classes.has(name)))) continue
    goTo(rule.around)
    css += rule.css
  }
  goTo('')
  return css
}

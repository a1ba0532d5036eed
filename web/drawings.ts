import { readdir, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Plugin } from 'vite'

const folder = join(import.meta.dirname, 'drawings')
const styleSheet = join(import.meta.dirname, 'src/ui/tokens.css')

/** The values of the design tokens that a drawing uses, of a block of the style sheet. */
function tokensOf(block: string, used: Set<string>): string {
  const values = [...block.matchAll(/(--[\w-]+):\s*([^;]+);/g)].filter(([, name = '']) => used.has(name))
  return values.map(([, name, value]) => `${name}:${value}`).join(';')
}

/** A drawing as a picture of its own: rounded lines of 2, in the site's colours, light and dark. */
export async function drawing(name: string): Promise<string> {
  const [source, css] = await Promise.all([readFile(join(folder, `${name}.svg`), 'utf8'), readFile(styleSheet, 'utf8')])
  const used = new Set(['--pic-line', ...[...source.matchAll(/var\((--[\w-]+)\)/g)].map(([, token = '']) => token)])
  const block = (start: string) => css.slice(css.indexOf(start)).match(/:root \{([^}]*)\}/)?.[1] ?? ''
  const [light, dark] = [tokensOf(block(':root'), used), tokensOf(block('@media (prefers-color-scheme: dark)'), used)]
  const lines = 'fill:none;stroke:var(--pic-line);stroke-linecap:round;stroke-linejoin:round;stroke-width:2'
  const style = `:root{${lines};${light}}${dark && `@media(prefers-color-scheme:dark){:root{${dark}}}`}`
  return source.replace(/<svg [^>]*>/, (start) => `${start}<style>${style}</style>`).replaceAll(/>\s+</g, '><')
}

const drawingNames = async () => (await readdir(folder)).map((file) => basename(file, '.svg'))

/** Puts the drawings out under `/drawings`: each a file of its own, which is asked for where it comes into view. */
export const drawings: Plugin = {
  name: 'drawings',
  async generateBundle() {
    if (this.environment.name !== 'client') return
    for (const name of await drawingNames()) {
      this.emitFile({ type: 'asset', fileName: `drawings/${name}.svg`, source: await drawing(name) })
    }
  },
  configureServer: ({ middlewares }) => {
    middlewares.use('/drawings', (request, response, next) => {
      const name = basename(request.url ?? '', '.svg')
      const answer = async () => {
        if (!(await drawingNames()).includes(name)) return next()
        response.writeHead(200, { 'content-type': 'image/svg+xml' }).end(await drawing(name))
      }
      answer().catch(next)
    })
  },
}

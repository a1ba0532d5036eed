import { pathToFileURL } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { highlightSketches } from './highlight-sketches.ts'
import { prerender } from './prerender.ts'

/**
 * zod's schemas carry the making of JSON Schema along, which no browser does: 5 KB less on the sign-up pages. What the
 * form reads with stays zod's own.
 */
const noJsonSchema: Plugin = {
  name: 'no-json-schema',
  apply: 'build',
  enforce: 'pre',
  async load(id) {
    if (!/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/.test(id)) return null
    const names = Object.keys((await import(pathToFileURL(id).href)) as object)
    return names.map((name) => `export const ${name} = () => undefined`).join('\n')
  },
}

const bff = process.env['BFF_URL'] ?? 'http://localhost:3000'

export default defineConfig({
  plugins: [react(), highlightSketches, noJsonSchema, prerender()],
  build: {
    // Fonts and pictures stay files: the content security policy allows no data: sources.
    assetsInlineLimit: 0,
    // One small style sheet: no page appears unstyled, and no tab from before a deployment misses a part of it.
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    // Making a schema or an event does nothing else: those that no page reads with are left out, and what of zod only they need.
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ['z', 'field', 'lineOfText', 'requiredLine', 'defineEvent'],
      },
      output: {
        // What every form is made of is one file: many small ones cost more, each with its name in others.
        codeSplitting: {
          groups: [
            {
              name: 'controls',
              test: /\/(ui\/(Field|Labelled|Select|Alert|Notice)|contracts\/src\/(class-date|pricing))\.tsx?$/,
            },
          ],
        },
      },
    },
  },
  server: { proxy: { '/api': bff, '/webhooks': bff, '/waiver.pdf': bff } },
})

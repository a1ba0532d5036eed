import { pathToFileURL } from 'node:url'
import react from '@vitejs/plugin-react'
import { defineConfig, type Plugin } from 'vite'
import { drawings } from './drawings.ts'
import { highlightSketches } from './highlight-sketches.ts'
import { prerender } from './prerender.ts'

/** All that a module exports, as functions that do nothing. */
async function doNothing(id: string): Promise<string> {
  const names = Object.keys((await import(pathToFileURL(id).href)) as object)
  return names.map((name) => `export const ${name} = () => undefined`).join('\n')
}

/** What packages carry along and no page of ours uses, each with what stands in for it. */
const unused: readonly [module: RegExp, standIn: string | ((id: string) => Promise<string>)][] = [
  // zod's schemas can be written as JSON Schema: 5 KB on the pages that read with them.
  [/\/zod\/v4\/core\/(to-json-schema|json-schema-processors)\.js$/, doNothing],
  // Mutations and endless lists of queries: we have forms, and pages.
  [
    /\/query-core\/build\/modern\/mutationCache\.js$/,
    'export class MutationCache { clear() {} async resumePausedMutations() {} }',
  ],
  [
    /\/query-core\/build\/modern\/infiniteQueryBehavior\.js$/,
    ['infiniteQueryBehavior', 'hasNextPage', 'hasPreviousPage']
      .map((name) => `export const ${name} = () => undefined`)
      .join('\n'),
  ],
  // No screen of ours waits for a query by suspending, or has its failure caught as an error of the screen.
  [/\/react-query\/build\/modern\/(suspense|errorBoundaryUtils)\.js$/, doNothing],
  // Addresses are read and written our own way.
  [
    /\/router-core\/dist\/esm\/searchParams\.js$/,
    ['defaultParseSearch', 'defaultStringifySearch', 'parseSearchWith', 'stringifySearchWith']
      .map((name) => `export const ${name} = () => undefined`)
      .join('\n'),
  ],
  // Scripts have no styles of their own to wait for. One that has not come after 120 seconds is taken for missing.
  [
    /^\0vite\/preload-helper\.js$/,
    `export const __vitePreload = (load) => new Promise((resolve, reject) => {
      load().then(resolve, reject)
      setTimeout(reject, 120_000, TypeError('Failed to fetch dynamically imported module'))
    })`,
  ],
]

const leaveOut: Plugin = {
  name: 'leave-out-unused',
  apply: 'build',
  enforce: 'pre',
  async load(id) {
    const standIn = unused.find(([module]) => module.test(id))?.[1]
    return typeof standIn === 'function' ? standIn(id) : (standIn ?? null)
  },
}

const bff = process.env['BFF_URL'] ?? 'http://localhost:3000'
/** As a page of its own would ask: it takes changes from its own site alone. */
const toBff = { target: bff, headers: { origin: bff } }

export default defineConfig({
  plugins: [react(), drawings, highlightSketches, leaveOut, prerender()],
  // Each name is in a script as well.
  css: { modules: { generateScopedName: '[local]_[hash:base64:4]' } },
  resolve: {
    // React has had it since version 18; the stand-in for older ones stays away.
    alias: [{ find: /^use-sync-external-store\/shim$/, replacement: 'react' }],
  },
  build: {
    // Fonts and pictures stay files: the content security policy allows no data: sources.
    assetsInlineLimit: 0,
    // One small style sheet: no page appears unstyled, and no tab from before a deployment misses a part of it.
    cssCodeSplit: false,
    // Each document names what it needs; on the way to another page, a screen is asked for when a link to it is pointed at.
    modulePreload: false,
    // Making a schema or an event does nothing else: those that no page reads with are left out, and what of zod only they need.
    rolldownOptions: {
      treeshake: {
        manualPureFunctions: ['z', 'field', 'lineOfText', 'requiredLine', 'defineEvent'],
      },
      output: {
        // Few files: many small ones cost more, each with its name in others.
        codeSplitting: {
          groups: [
            // All that every page needs.
            {
              name: 'app',
              test: /\/src\/(app\/main|ui\/(Notice|Drawing))\.tsx$|\/contracts\/src\/class-date\./,
              priority: 2,
            },
            {
              name: 'reading',
              test: /\/src\/(reading\/(ContentPage|Blocks|Cards|RichText|OutsideLink)|guides\/guide-cards|contact\/support-email)\./,
              includeDependenciesRecursively: false,
            },
            {
              name: 'controls',
              test: /\/src\/(ui\/(Field|Labelled|Select|Alert|DisabledUntilHydrated)\.|browser\/use-client-state|forms\/(field-errors|import-or-reload)|checkout\/(WayOn|way-on)\.|answers\/agreement)/,
              includeDependenciesRecursively: false,
            },
            // What there is to book and to buy.
            {
              name: 'offers',
              test: /\/contracts\/src\/(pricing|products|opening-(levels|prices))\.|\/src\/classes\/(classes-query|level-looks|class-offer)\.|classes-view\.json/,
              includeDependenciesRecursively: false,
            },
            {
              name: 'registration',
              test: /\/src\/(registration\/(record|failure)|browser\/uuid-v7|checkout\/use-external-redirect|ui\/Steps)\./,
              includeDependenciesRecursively: false,
            },
            {
              name: 'times',
              test: /\/src\/(school-date|classes\/(class-time|ClassTime))\./,
              includeDependenciesRecursively: false,
              // Before what every page needs: that names the school's date, and few pages ask for it.
              priority: 3,
            },
            {
              name: 'carousel',
              test: /\/src\/ui\/(use-carousel|use-attention)\./,
              includeDependenciesRecursively: false,
            },
          ],
        },
      },
    },
  },
  // Of several files, so that what few browsers need is loaded by those alone.
  worker: { format: 'es' },
  server: { proxy: { '/api': toBff, '/webhooks': toBff, '/waiver.pdf': toBff } },
})

import { pathToFileURL } from 'node:url'
import type { Plugin } from 'vite'

/** What a package carries along and no page uses. */
interface Unused {
  module: RegExp
  /** The source that stands in for the module. */
  standIn: string | ((id: string) => Promise<string>)
}

const exportsOf = (names: string[]) => names.map((name) => `export const ${name} = () => undefined`).join('\n')

/** Everything that the module exports, as functions that do nothing. */
async function doNothing(id: string): Promise<string> {
  return exportsOf(Object.keys((await import(pathToFileURL(id).href)) as object))
}

const unused: readonly Unused[] = [
  // Writes schemas as JSON Schema.
  { module: /\/zod\/v4\/core\/to-json-schema\.js$/, standIn: doNothing },
  { module: /\/zod\/v4\/core\/json-schema-processors\.js$/, standIn: doNothing },
  // Mutations: forms send what they change by `useSubmit`.
  {
    module: /\/query-core\/build\/modern\/mutationCache\.js$/,
    standIn: 'export class MutationCache { clear() {} async resumePausedMutations() {} }',
  },
  // Infinite queries.
  {
    module: /\/query-core\/build\/modern\/infiniteQueryBehavior\.js$/,
    standIn: exportsOf(['infiniteQueryBehavior', 'hasNextPage', 'hasPreviousPage']),
  },
  // Queries that suspend a screen, or throw into its error boundary.
  { module: /\/react-query\/build\/modern\/suspense\.js$/, standIn: doNothing },
  { module: /\/react-query\/build\/modern\/errorBoundaryUtils\.js$/, standIn: doNothing },
  // Search parameters as JSON: the router is given functions of its own.
  {
    module: /\/router-core\/dist\/esm\/searchParams\.js$/,
    standIn: exportsOf(['defaultParseSearch', 'defaultStringifySearch', 'parseSearchWith', 'stringifySearchWith']),
  },
  // Preloads the style sheets of a script, of which none has its own. A script that has not come after 120 seconds has failed.
  {
    module: /^\0vite\/preload-helper\.js$/,
    standIn: `export const __vitePreload = (load) => new Promise((resolve, reject) => {
      load().then(resolve, reject)
      setTimeout(reject, 120_000, TypeError('Failed to fetch dynamically imported module'))
    })`,
  },
]

/**
 * Replaces modules of packages that no page uses, so that none has to load them. A build fails where one of them is no
 * longer there to replace, since the package was changed: then it has to be looked for again, or its entry goes.
 */
export function standIns(): Plugin {
  const replaced = new Set<RegExp>()
  return {
    name: 'stand-ins',
    enforce: 'pre',
    async load(id) {
      const found = unused.find(({ module }) => module.test(id))
      if (!found) return null
      replaced.add(found.module)
      return typeof found.standIn === 'function' ? found.standIn(id) : found.standIn
    },
    buildEnd(error) {
      if (error || this.environment?.name !== 'client' || this.environment.mode !== 'build') return
      const missed = unused.filter(({ module }) => !replaced.has(module))
      if (missed.length > 0)
        throw new Error(`Nothing was replaced by ${missed.map(({ module }) => module).join(', ')}.`)
    },
  }
}

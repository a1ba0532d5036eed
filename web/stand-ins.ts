import type { Plugin } from 'vite'

/** A module that a package imports and no page uses. */
interface Unused {
  module: RegExp
  /** The source that stands in for the module. */
  standIn: string
}

const exportsOf = (names: string[]) => names.map((name) => `export const ${name} = () => undefined`).join('\n')

/**
 * The bytes are what `/privacy` loads more (gzip) without the stand-in: `node web/first-load.ts /privacy` with and without
 * it. One that saves less than 200 is not worth its place here.
 */
const unused: readonly Unused[] = [
  // 1,060 bytes. Mutations: every write goes through `useSubmit`, which needs none of their cache, retries and observers.
  {
    module: /\/query-core\/build\/modern\/mutationCache\.js$/,
    standIn: 'export class MutationCache { clear() {} async resumePausedMutations() {} }',
  },
  // 560 bytes. Infinite queries.
  {
    module: /\/query-core\/build\/modern\/infiniteQueryBehavior\.js$/,
    standIn: exportsOf(['infiniteQueryBehavior', 'hasNextPage', 'hasPreviousPage']),
  },
  // 238 bytes, both. Queries that suspend a screen, or throw into its error boundary.
  {
    module: /\/react-query\/build\/modern\/suspense\.js$/,
    standIn: exportsOf(['defaultThrowOnError', 'ensureSuspenseTimers', 'fetchOptimistic', 'shouldSuspend']),
  },
  {
    module: /\/react-query\/build\/modern\/errorBoundaryUtils\.js$/,
    standIn: exportsOf(['ensurePreventErrorBoundaryRetry', 'getHasError', 'useClearResetErrorBoundary']),
  },
  // 350 bytes. Search parameters as JSON: the router is given its own functions.
  {
    module: /\/router-core\/dist\/esm\/searchParams\.js$/,
    standIn: exportsOf(['defaultParseSearch', 'defaultStringifySearch', 'parseSearchWith', 'stringifySearchWith']),
  },
  // 560 bytes. Preloads a script's style sheets: no script has its own here. A script that takes over 120 seconds has failed.
  {
    module: /^\0vite\/preload-helper\.js$/,
    standIn: `export const __vitePreload = (load) => new Promise((resolve, reject) => {
      load().then(resolve, reject)
      setTimeout(reject, 120_000, TypeError('Failed to fetch dynamically imported module'))
    })`,
  },
]

/**
 * Replaces modules of packages that no page uses, so that no page loads them. The build fails when one of them was not there
 * to replace, as after an update of its package: find it again, or delete its entry.
 */
export function standIns(): Plugin {
  const replaced = new Set<RegExp>()
  return {
    name: 'stand-ins',
    enforce: 'pre',
    load(id) {
      const found = unused.find(({ module }) => module.test(id))
      if (!found) return null
      replaced.add(found.module)
      return found.standIn
    },
    buildEnd(error) {
      if (error || this.environment?.name !== 'client' || this.environment.mode !== 'build') return
      const missed = unused.filter(({ module }) => !replaced.has(module))
      if (missed.length > 0)
        throw new Error(`Nothing was replaced by ${missed.map(({ module }) => module).join(', ')}.`)
    },
  }
}

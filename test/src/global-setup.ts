import type { TestProject } from 'vitest/node'
import { testPostgres } from './infrastructure.ts'

declare module 'vitest' {
  export interface ProvidedContext {
    postgresUrl: string
  }
}

/** One PostgreSQL for the whole run. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const postgres = await testPostgres()
  project.provide('postgresUrl', postgres.url)
  return () => postgres.stop()
}

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './settings.ts'

/**
 * Returns the container image of a server: that of `POSTGRES_IMAGE` or `NATS_IMAGE`, else the version pinned in
 * docker-compose.yml.
 */
export function serverImage(server: 'postgres' | 'nats', env: NodeJS.ProcessEnv = process.env): string {
  const variable = `${server.toUpperCase()}_IMAGE`
  const given = env[variable]
  if (given !== undefined && given !== '') return given
  const compose = readFileSync(join(root, 'docker-compose.yml'), 'utf8')
  const image = new RegExp(`image: \\$\\{${variable}:-(\\S+)\\}`).exec(compose)?.[1]
  if (image === undefined) throw new Error(`docker-compose.yml has no default for ${variable}.`)
  return image
}

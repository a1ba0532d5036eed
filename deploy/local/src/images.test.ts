import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { serverImage } from './images.ts'
import { root } from './settings.ts'

const read = (file: string) => readFileSync(join(root, file), 'utf8')
const compose = read('docker-compose.yml')

it('Every image is pinned to a version, and can be overridden by the environment', () => {
  const images = [...compose.matchAll(/^ +(?:image|NODE_IMAGE): (.+)$/gm)].map(([, image = '']) => image)
  const others = images.filter((image) => image !== 'robokids-learning')
  expect(others).toHaveLength(4)
  for (const image of others) expect(image).toMatch(/^\$\{[A-Z]+_IMAGE:-[\w/]+:\d+\.\d+(\.\d+)?(-\w+)?\}$/)
  expect(compose).toContain(`\${POSTGRES_IMAGE:-${serverImage('postgres', {})}}`)
  expect(compose).toContain(`\${NATS_IMAGE:-${serverImage('nats', {})}}`)
  expect(serverImage('nats', { NATS_IMAGE: 'mirror.internal/nats:3' })).toBe('mirror.internal/nats:3')
})

it('Images run the same Node version as everything else', () => {
  const { devDependencies } = JSON.parse(read('package.json')) as { devDependencies: { node: string } }
  const image = `node:${devDependencies.node}-slim`
  expect(read('deploy/Dockerfile')).toContain(`ARG NODE_IMAGE=${image}\n`)
  expect(compose).toContain(`NODE_IMAGE: \${NODE_IMAGE:-${image}}\n`)
})

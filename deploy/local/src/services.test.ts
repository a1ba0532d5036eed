import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { natsPasswordVariable } from './compose-nats-users.ts'
import { owningServices, portSetting, services, urlSetting } from './services.ts'
import { root } from './settings.ts'

const text = (path: string) => readFile(join(root, path), 'utf8')

/** A service's lines of docker-compose.yml. */
async function composed(name: string): Promise<string> {
  const [, lines = ''] = new RegExp(`\\n  ${name}:\\n((?: {4}.*\\n|\\n)+)`).exec(await text('docker-compose.yml')) ?? []
  return lines
}

describe('the table of services', () => {
  it('lists every folder of services/', async () => {
    const entries = await readdir(join(root, 'services'), { withFileTypes: true })
    expect(entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)).toEqual(owningServices.toSorted())
  })

  it('has one port per service', () => {
    expect(new Set(owningServices.map((name) => services[name].port)).size).toBe(owningServices.length)
  })
})

/** The lines of `wanted` that a text lacks, with the file to write them in. */
const missing = (file: string, content: string, wanted: string[]) =>
  wanted.filter((line) => !content.includes(line)).map((line) => `${file} lacks: ${line.trim()}`)

describe.each(owningServices)('a deployment of %s', (name) => {
  it('has its process in docker-compose.yml, with its port and its database', async () => {
    const wanted = [
      `command: ['node', 'services/${name}/src/main.ts']`,
      `PORT: '${services[name].port}'`,
      `DATABASE_URL: postgres://${name}:${name}@postgres:5432/${name}`,
    ]
    expect(missing('docker-compose.yml, nats', await composed('nats'), [`${natsPasswordVariable(name)}: `])).toEqual([])
    expect(missing(`docker-compose.yml, ${name}`, await composed(name), wanted)).toEqual([])
    expect(missing('docker-compose.yml, bff, depends_on', await composed('bff'), [`      - ${name}\n`])).toEqual([])
  })

  it('is known to the BFF and to the operator’s commands in docker-compose.yml', async () => {
    const line = `${urlSetting(name)}: http://${name}:${services[name].port}\n`
    expect(missing('docker-compose.yml, bff', await composed('bff'), [line])).toEqual([])
    expect(missing('docker-compose.yml, admin', await composed('admin'), [line])).toEqual([])
  })

  it('has a database and a role of its own', async () => {
    const path = 'deploy/postgres/databases.sql'
    const wanted = [
      `create role ${name} login password '${name}';`,
      `create database ${name} owner ${name};`,
      `revoke all on database ${name} from public;`,
    ]
    expect(missing(path, await text(path), wanted)).toEqual([])
  })

  it('is part of the image', async () => {
    const path = 'deploy/Dockerfile'
    const wanted = [`COPY services/${name}/package.json services/${name}/\n`, ` -w services/${name} `]
    expect(missing(path, await text(path), wanted)).toEqual([])
    // `npm install` writes it.
    expect(missing('package-lock.json', await text('package-lock.json'), [`"services/${name}": {`])).toEqual([])
  })

  it('is in the README, with its port', async () => {
    const wanted = [`\`${portSetting(name)}\``, `| \`services/${name}/\` `]
    expect(missing('README.md', await text('README.md'), wanted)).toEqual([])
  })
})

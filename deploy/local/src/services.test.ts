import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
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

describe.each(owningServices)('a deployment of %s', (name) => {
  it('has its process in docker-compose.yml, with its port and its database', async () => {
    const lines = await composed(name)
    expect(lines).toContain(`command: ['node', 'services/${name}/src/main.ts']`)
    expect(lines).toContain(`PORT: '${services[name].port}'`)
    expect(lines).toContain(`DATABASE_URL: postgres://${name}:${name}@postgres:5432/${name}`)
    expect(await composed('bff')).toContain(`      - ${name}\n`)
  })

  it('is known to the BFF and to the operator’s commands in docker-compose.yml', async () => {
    const line = `${urlSetting(name)}: http://${name}:${services[name].port}\n`
    expect(await composed('bff')).toContain(line)
    expect(await composed('admin')).toContain(line)
  })

  it('has a database and a role of its own', async () => {
    const sql = await text('deploy/postgres/databases.sql')
    expect(sql).toContain(`create role ${name} login password '${name}';`)
    expect(sql).toContain(`create database ${name} owner ${name};`)
    expect(sql).toContain(`revoke connect on database ${name} from public;`)
  })

  it('is part of the image', async () => {
    const image = await text('deploy/Dockerfile')
    expect(image).toContain(`COPY services/${name}/package.json services/${name}/\n`)
    expect(image).toContain(` -w services/${name} `)
  })

  it('has its port in the README', async () => {
    expect(await text('README.md')).toContain(`\`${portSetting(name)}\``)
  })
})

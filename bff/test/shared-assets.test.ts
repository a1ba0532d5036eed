import { mkdir, mkdtemp, readdir, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { brotliCompressSync } from 'node:zlib'
import { pagePaths } from '@robokids/contracts/pages'
import { testBed, type TestBed } from '@robokids/test/bed'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { send, startBff } from './fixture.ts'

let bed: TestBed
let folder: string
beforeAll(async () => {
  bed = await testBed()
  folder = await mkdtemp(join(tmpdir(), 'robokids-assets-'))
})
afterAll(async () => {
  await bed.stop()
  await rm(folder, { recursive: true })
})

/** Creates a minimal build of the web with one asset. */
async function build(asset: string): Promise<string> {
  const dist = join(folder, `dist-${asset}`)
  const put = async (name: string, content: string | Buffer) => {
    await mkdir(dirname(join(dist, name)), { recursive: true })
    await writeFile(join(dist, name), content)
  }
  const page = `<html><head></head><body><script type="module" src="/assets/${asset}"></script></body></html>`
  for (const path of pagePaths) await put(path === '/' ? 'index.html' : `${path.slice(1)}.html`, page)
  await put('404.html', page)
  await put('server/server.js', 'export const renderApplication = () => Promise.resolve("")')
  await put(`assets/${asset}`, `export const of = '${asset}'`)
  await put(`assets/${asset}.br`, brotliCompressSync(`export const of = '${asset}'`))
  await put('assets/unhashed.js', 'export const of = undefined')
  return dist
}

const [before, after] = ['main-0000aaaa.js', 'main-1111bbbb.js'] as const

it('serves the files of both builds from both processes while both run', async () => {
  const WEB_ASSETS_SHARED = join(folder, 'shared')
  const old = await startBff(bed, { WEB_DIST: await build(before), WEB_ASSETS_SHARED })
  // A request that comes too early must not be cached as missing.
  expect((await send(`${old.url}/assets/${after}`).answered).status).toBe(404)
  const replaced = await startBff(bed, { WEB_DIST: await build(after), WEB_ASSETS_SHARED })
  for (const { url } of [old, replaced]) {
    for (const asset of [before, after]) {
      const plainly = await send(`${url}/assets/${asset}`).answered
      expect([plainly.status, plainly.text]).toEqual([200, `export const of = '${asset}'`])
      expect(plainly.headers).toMatchObject({
        'content-type': 'text/javascript; charset=utf-8',
        'cache-control': 'public, max-age=31536000, immutable',
      })
      const small = await send(`${url}/assets/${asset}`, { 'accept-encoding': 'br' }).answered
      expect(small.headers).toMatchObject({ 'content-encoding': 'br', etag: plainly.headers['etag'] })
      const again = await send(`${url}/assets/${asset}`, { 'if-none-match': String(plainly.headers['etag']) }).answered
      expect(again.status).toBe(304)
    }
    await writeFile(join(folder, 'secret-2222cccc.js'), 'not a file of the site')
    await writeFile(join(WEB_ASSETS_SHARED, 'other.js'), 'not a file of a build')
    for (const path of [
      'gone-2222cccc.js',
      'other.js',
      '../secret-2222cccc.js',
      '..%2fsecret-2222cccc.js',
      'x/..%2f..%2fsecret-2222cccc.js',
      '%00-2222cccc.js',
    ]) {
      const answer = await send(`${url}/assets/${path}`, { accept: 'text/html' }).answered
      expect([path, answer.status]).toEqual([path, path.startsWith('../') ? answer.status : 404])
      expect(answer.text).not.toContain('not a file')
    }
  }
  expect(await readdir(WEB_ASSETS_SHARED)).not.toContain('unhashed.js')
})

it('removes files that no process has started with for a month, and keeps those of the current build', async () => {
  const WEB_ASSETS_SHARED = join(folder, 'shared-for-long')
  const WEB_DIST = await build('main-3333dddd.js')
  await (await startBff(bed, { WEB_DIST, WEB_ASSETS_SHARED })).stop()
  await writeFile(join(WEB_ASSETS_SHARED, before), '')
  await writeFile(join(WEB_ASSETS_SHARED, after), '')
  const long = new Date(Date.now() - 31 * 86_400_000)
  for (const name of ['main-3333dddd.js', 'main-3333dddd.js.br', before]) {
    await utimes(join(WEB_ASSETS_SHARED, name), long, long)
  }
  await (await startBff(bed, { WEB_DIST, WEB_ASSETS_SHARED })).stop()
  expect((await readdir(WEB_ASSETS_SHARED)).toSorted()).toEqual([after, 'main-3333dddd.js', 'main-3333dddd.js.br'])
})

it('serves only its own files if no folder is shared, or the folder cannot be used', async () => {
  const WEB_DIST = await build('main-4444eeee.js')
  await writeFile(join(folder, 'no-folder'), '')
  for (const env of [{}, { WEB_ASSETS_SHARED: join(folder, 'no-folder') }]) {
    const { url } = await startBff(bed, { WEB_DIST, ...env })
    expect((await send(`${url}/assets/main-4444eeee.js`).answered).status).toBe(200)
    expect((await send(`${url}/assets/${before}`).answered).status).toBe(404)
    expect((await send(`${url}/terms`, { accept: 'text/html' }).answered).status).toBe(200)
  }
})

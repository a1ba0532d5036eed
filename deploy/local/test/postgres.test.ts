import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, chown, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startPostgres } from '@robokids/local/postgres'
import { freePort, isListening } from '@robokids/local/processes'
import { afterAll, describe, expect, it } from 'vitest'

const folders: string[] = []
afterAll(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function dataDir(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'robokids-lock-'))
  folders.push(folder)
  return folder
}

const start = async (dataDir: string) => startPostgres({ dataDir, port: await freePort(), scratch: true })
const portOf = (url: string) => Number(new URL(url).port)

describe('PostgreSQL of npm start', () => {
  it('PostgreSQL starts on data whose lock names an unrelated process, and leaves that process alone', async () => {
    const data = await dataDir()
    await (await start(data)).stop()
    // Run by the same user as the server, so that a signal would reach it.
    const { uid, gid } = await stat(data)
    const stranger = spawn('sleep', ['600'], { uid, gid, stdio: 'ignore' })
    try {
      await once(stranger, 'spawn')
      const lock = join(data, 'postmaster.pid')
      await writeFile(lock, `${stranger.pid}\n${data}\n1700000000\n4020\n\n127.0.0.1\n  1234  5678\nready   \n`)
      await chown(lock, uid, gid)
      const server = await start(data)
      expect(await isListening(portOf(server.url))).toBe(true)
      expect([stranger.exitCode, stranger.signalCode]).toEqual([null, null])
      await server.stop()
    } finally {
      stranger.kill('SIGKILL')
    }
  })

  it('PostgreSQL does not start on data that is in use, or a copy of such data', async () => {
    const data = await dataDir()
    const server = await start(data)
    try {
      await expect(start(data)).rejects.toThrow(`PostgreSQL runs on ${data} already, as process `)
      const copy = await dataDir()
      for (const file of ['PG_VERSION', 'postmaster.pid']) await cp(join(data, file), join(copy, file))
      await expect(start(copy)).rejects.toThrow(`If these data are a copy, delete ${copy}/postmaster.pid.`)
      expect(await isListening(portOf(server.url))).toBe(true)
      expect((await readFile(join(data, 'postmaster.pid'), 'utf8')).split('\n')[1]).toBe(data)
    } finally {
      await server.stop()
    }
  })

  it('PostgreSQL recovers data that were left by a crash', async () => {
    const data = await dataDir()
    const server = await start(data)
    await server.kill()
    const again = await start(data)
    expect(await isListening(portOf(again.url))).toBe(true)
    await again.stop()
  })
})

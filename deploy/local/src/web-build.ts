import { execFile } from 'node:child_process'
import { createHash, randomUUID } from 'node:crypto'
import { readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { root } from './settings.ts'

const dist = join(root, 'web/dist')
const stamp = '.built-from'

/** A fingerprint of the build's inputs: names, sizes and modification times. */
async function fingerprint(): Promise<string> {
  const hash = createHash('sha256')
  for (const folder of ['web', 'contracts/src', 'package-lock.json']) {
    const path = join(root, folder)
    const entries = (await stat(path)).isDirectory()
      ? await readdir(path, { recursive: true, withFileTypes: true })
      : []
    const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
    const read = files.filter(
      (file) => !file.includes('/dist/') && !file.includes('/node_modules/') && !file.includes('/e2e/'),
    )
    for (const file of [...read, ...(entries.length === 0 ? [path] : [])].toSorted()) {
      const { size, mtimeMs } = await stat(file)
      hash.update(`${file} ${size} ${mtimeMs}\n`)
    }
  }
  return hash.digest('hex')
}

/** Builds the web into web/dist, unless that was built from the same sources. */
export async function buildWeb(): Promise<void> {
  const wanted = await fingerprint()
  const isBuilt = async () => (await readFile(join(dist, stamp), 'utf8').catch(() => '')) === wanted
  if (await isBuilt()) return
  // Into another folder, because the current one may be in use.
  const folder = join(root, 'web/node_modules', `.dist-${randomUUID()}`)
  // In a separate process with a production environment: what is built is what is shipped.
  await promisify(execFile)(
    process.execPath,
    [join(root, 'node_modules/vite/bin/vite.js'), 'build', '--outDir', folder, '--logLevel', 'error'],
    { cwd: join(root, 'web'), env: { ...process.env, NODE_ENV: 'production' } },
  )
  await writeFile(join(folder, stamp), wanted)
  // Another process may have finished first, and its build may be in use.
  if (!(await isBuilt()))
    await replaceDist(folder).catch(async (error: unknown) => {
      if (!(await isBuilt())) throw error
    })
  await rm(folder, { recursive: true, force: true })
}

/** @throws if another process replaces it at the same moment */
async function replaceDist(folder: string): Promise<void> {
  const before = `${folder}-before`
  // Moved first, because removal is not atomic.
  await rename(dist, before).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOENT') throw error
  })
  try {
    await rename(folder, dist)
  } finally {
    await rm(before, { recursive: true, force: true })
  }
}

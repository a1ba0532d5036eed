import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileNamed, isHashedAsset, type SiteFile } from './site-files.ts'

/** A file that no process has started with for this long is not used in any tab any more. */
const retentionMs = 30 * 86_400_000
/** The suffixes of a file's encodings. */
const suffixes = ['', '.br', '.gz'] as const

/** Returns undefined if the file does not exist. */
async function readIfExists(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The hashed files of all builds that run or ran recently, in a folder that the processes share: during a roll-out, the requests
 * for a page and its scripts may reach different versions.
 */
export class SharedAssets {
  readonly #folder: string
  /** The requested files of other builds. */
  readonly #found = new Map<string, SiteFile>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Stores the files of this build before any page can request them from another process, and removes unused ones. */
  async publish(dist: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const now = new Date()
    const names = (await readdir(join(dist, 'assets'))).filter((name) =>
      isHashedAsset(`assets/${name.replace(/\.(br|gz)$/, '')}`),
    )
    // The compressed variants first, so that they exist if the file does.
    for (const name of names.toSorted((one, other) => other.length - one.length)) {
      const place = join(this.#folder, name)
      const exists = await utimes(place, now, now).then(
        () => true,
        () => false,
      )
      if (exists) continue
      // Renamed into place, so that readers never see half a file.
      const copy = join(this.#folder, `.${randomUUID()}`)
      await copyFile(join(dist, 'assets', name), copy)
      await utimes(copy, now, now)
      await rename(copy, place)
    }
    await this.#removeUnused(now.getTime())
  }

  async #removeUnused(now: number): Promise<void> {
    for (const name of await readdir(this.#folder)) {
      const path = join(this.#folder, name)
      // Another process may be removing it as well.
      const known = await stat(path).catch(() => undefined)
      if (known?.isFile() && now - known.mtimeMs > retentionMs) await rm(path, { force: true })
    }
  }

  /** @param path the requested path: `assets/main-4f2a91bc.js`. */
  async find(path: string): Promise<SiteFile | undefined> {
    if (!isHashedAsset(path)) return undefined
    const known = this.#found.get(path)
    if (known) return known
    const place = join(this.#folder, basename(path))
    const [content, br, gzip] = await Promise.all(suffixes.map((suffix) => readIfExists(place + suffix)))
    if (!content) return undefined
    const file = fileNamed(path, content, { ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) })
    this.#found.set(path, file)
    return file
  }
}

import { randomUUID } from 'node:crypto'
import { copyFile, mkdir, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileNamed, isHashedAsset, type SiteFile } from './site-files.ts'

/** What no process has started with for so long is in no tab any more. */
const keptMs = 30 * 86_400_000
/** A file's forms, by the ends of their names. */
const forms = ['', '.br', '.gz'] as const

/** Undefined where there is no such file. */
async function readIfThere(path: string): Promise<Buffer | undefined> {
  try {
    return await readFile(path)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/**
 * The hashed files of all builds that run, or ran lately, in a folder that the processes share. Pages and their scripts come
 * in several requests, and while a new version replaces the one before, each may be answered by another of the two.
 */
export class SharedAssets {
  readonly #folder: string
  /** Those of other builds that were asked for. */
  readonly #found = new Map<string, SiteFile>()

  constructor(folder: string) {
    this.#folder = folder
  }

  /** Puts the files of this build there, before anybody can ask another process for them, and removes what is out of use. */
  async publish(dist: string): Promise<void> {
    await mkdir(this.#folder, { recursive: true })
    const now = new Date()
    const names = (await readdir(join(dist, 'assets'))).filter((name) =>
      isHashedAsset(`assets/${name.replace(/\.(br|gz)$/, '')}`),
    )
    // The smaller forms first: a file that is found has them.
    for (const name of names.toSorted((one, other) => other.length - one.length)) {
      const place = join(this.#folder, name)
      const isThere = await utimes(place, now, now).then(
        () => true,
        () => false,
      )
      if (isThere) continue
      // Whole or not at all, whoever reads it meanwhile.
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
      // Another process may be at the same.
      const known = await stat(path).catch(() => undefined)
      if (known?.isFile() && now - known.mtimeMs > keptMs) await rm(path, { force: true })
    }
  }

  /** @param path as it was asked for: `assets/main-4f2a91bc.js`. */
  async find(path: string): Promise<SiteFile | undefined> {
    if (!isHashedAsset(path)) return undefined
    const known = this.#found.get(path)
    if (known) return known
    const place = join(this.#folder, basename(path))
    const [content, br, gzip] = await Promise.all(forms.map((form) => readIfThere(place + form)))
    if (!content) return undefined
    const file = fileNamed(path, content, { ...(br ? { br } : {}), ...(gzip ? { gzip } : {}) })
    this.#found.set(path, file)
    return file
  }
}

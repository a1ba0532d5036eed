import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readlink, readdir, rm, symlink } from 'node:fs/promises'
import { existsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { root } from '@robokids/local/settings'

const run = promisify(execFile)

/** The commit of the release that an operator upgrades from. */
const commit = (await readFile(join(root, 'deploy/previous-release'), 'utf8')).trim()

/** Whether this copy of the project has the history back to that release: one without, or with a part, does not. */
export const hasPreviousRelease: boolean = await run('git', ['cat-file', '-e', `${commit}^{commit}`], {
  cwd: root,
}).then(
  () => true,
  () => false,
)

/** Folders whose packages have dependencies of their own versions. */
async function foldersWithPackages(): Promise<string[]> {
  const { stdout } = await run('git', ['ls-files', '--', 'package.json', '*/package.json'], { cwd: root })
  return stdout
    .trim()
    .split('\n')
    .map((path) => dirname(path))
    .filter((folder) => existsSync(join(root, folder, 'node_modules')))
}

/**
 * Writes the code of the previous release to a temporary folder, where its processes can be started. It runs with the libraries
 * that are installed now. @returns the folder, and what removes it
 */
export async function writePreviousRelease(): Promise<{ source: string; remove: () => Promise<void> }> {
  const source = await mkdtemp(join(tmpdir(), 'robokids-previous-'))
  const archive = join(source, 'source.tar')
  await run('git', ['archive', '--output', archive, commit], { cwd: root })
  await run('tar', ['-xf', archive, '-C', source])
  await rm(archive)
  for (const folder of await foldersWithPackages()) {
    const [installed, linked] = [join(root, folder, 'node_modules'), join(source, folder, 'node_modules')]
    await mkdir(linked, { recursive: true })
    for (const name of await readdir(installed))
      if (name !== '@robokids' && !name.startsWith('.')) await symlink(join(installed, name), join(linked, name))
  }
  // The project's own packages are those of the release. A relative link leads to them.
  const own = join(root, 'node_modules/@robokids')
  await mkdir(join(source, 'node_modules/@robokids'))
  for (const name of await readdir(own))
    await symlink(await readlink(join(own, name)), join(source, 'node_modules/@robokids', name))
  return { source, remove: () => rm(source, { recursive: true, force: true }) }
}

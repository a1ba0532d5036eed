// Entry point of the npm commands for any Node version: installs missing dependencies, then runs the command with the
// Node version that the project pins.
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
const bin = join(root, 'node_modules', '.bin')

function lockedPackages(file) {
  return JSON.parse(readFileSync(join(root, file), 'utf8')).packages ?? {}
}

/** Whether node_modules matches package-lock.json. */
function dependenciesAreThere() {
  const installed = join('node_modules', '.package-lock.json')
  if (!existsSync(join(root, installed)) || !existsSync(join(bin, 'node'))) return false
  const here = lockedPackages(installed)
  return Object.entries(lockedPackages('package-lock.json')).every(([path, wanted]) => {
    // Optional packages are installed only on their platforms.
    if (path === '' || wanted.optional || wanted.devOptional || wanted.peer || !path.includes('node_modules/'))
      return true
    // A workspace folder, which may be new.
    if (wanted.link) return existsSync(join(root, path))
    return here[path]?.version === wanted.version
  })
}

function installDependencies() {
  console.error('Installing dependencies …')
  const npm = process.env.npm_execpath
  const args = [
    existsSync(join(root, 'node_modules')) ? 'install' : 'ci',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ]
  const [command, all] = npm ? [process.execPath, [npm, ...args]] : ['npm', args]
  const { status } = spawnSync(command, all, {
    cwd: root,
    stdio: 'inherit',
    shell: !npm && process.platform === 'win32',
  })
  if (status !== 0) process.exit(status ?? 1)
}

if (!dependenciesAreThere()) installDependencies()

const env = { ...process.env, PATH: bin + delimiter + process.env.PATH }
const [command = 'start', ...rest] = process.argv.slice(2)
const fastImports = `--import=${pathToFileURL(join(root, 'runtime/src/fast-imports.ts')).href}`
const child = spawn('node', [fastImports, join(root, 'deploy/local/src', `${command}.ts`), ...rest], {
  cwd: root,
  env,
  stdio: 'inherit',
})
// Ctrl-C reaches the whole process group: the child cleans up, and this process waits for it.
process.on('SIGINT', () => {})
process.on('SIGHUP', () => {})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code, signal) => process.exit(code ?? (signal ? 1 : 0)))

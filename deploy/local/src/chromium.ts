import { execFile } from 'node:child_process'
import { access } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

const places = [
  // Headless, and much faster.
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
]

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

/** Finds the Chromium for browser tests, installing it on Debian as root. @throws an error with instructions */
export async function findChromium(): Promise<string> {
  const given = process.env['CHROMIUM_PATH']
  if (given) return given
  const find = async () => {
    for (const place of places) if (await exists(place)) return place
    return undefined
  }
  const found = await find()
  if (found) return found
  if ((await exists('/etc/debian_version')) && process.getuid?.() === 0) {
    process.stderr.write('Installing Chromium …\n')
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
    await run('apt-get', ['update', '-qq'], { env }).catch(() => {})
    // An older Debian has only the full browser.
    for (const browser of ['chromium-headless-shell', 'chromium']) {
      const install = ['install', '-y', '-qq', browser, 'fonts-liberation']
      await run('apt-get', install, { env, maxBuffer: 1 << 28 }).catch(() => {})
      const installed = await find()
      if (installed) return installed
    }
  }
  throw new Error('The browser tests need Chromium or Chrome: install one, or set CHROMIUM_PATH to it.')
}

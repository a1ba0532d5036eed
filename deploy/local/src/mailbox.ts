import { mkdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { end, isListening, launch, until, type LocalServer } from './processes.ts'

/** Starts the mail catcher: an SMTP server with a web page and a REST API (`/email`). */
export async function startMailbox(options: { dataDir: string; port: number; smtpPort: number }): Promise<LocalServer> {
  await mkdir(options.dataDir, { recursive: true })
  const program = join(dirname(createRequire(import.meta.url).resolve('maildev/package.json')), 'bin/maildev')
  const args = [
    '--ip',
    '127.0.0.1',
    '--web',
    String(options.port),
    '--smtp',
    String(options.smtpPort),
    '--mail-directory',
    options.dataDir,
    '--silent',
  ]
  const start = async () => {
    const child = launch(process.execPath, [program, ...args])
    await until(
      async () => (await isListening(options.port)) && (await isListening(options.smtpPort)),
      'The mail catcher',
      child,
    )
    return child
  }
  let child = await start()
  return {
    url: `http://127.0.0.1:${options.port}`,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
    async restart() {
      child = await start()
    },
  }
}

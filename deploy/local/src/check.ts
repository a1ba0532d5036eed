import { spawn } from 'node:child_process'

/** `npm run check`: the checks before every commit, one after the other. */
const checks: [string, string, string[]][] = [
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['types of the web', 'tsc', ['-p', 'web/tsconfig.json']],
  ['lint', 'oxlint', ['--deny-warnings']],
  ['format', 'oxfmt', ['--check']],
  ['unused code', 'knip', ['--no-progress']],
  ['unit tests', 'vitest', ['run', '--project', 'unit', '--reporter=dot']],
]

function run(command: string, args: string[]): Promise<{ ok: boolean; output: string }> {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
    child.on('error', (error) => resolve({ ok: false, output: error.message }))
    child.on('close', (code) => resolve({ ok: code === 0, output }))
  })
}

let failed = false
for (const [name, command, args] of checks) {
  const began = performance.now()
  const { ok, output } = await run(command, args)
  console.log(`${ok ? '✓' : '✗'} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
  if (!ok) console.log(output.trim())
  failed ||= !ok
}
process.exit(failed ? 1 : 0)

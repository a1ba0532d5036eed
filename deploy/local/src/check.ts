import { spawn } from 'node:child_process'

/** `npm run check`: the checks before every commit, two at a time. Those that take long come first. */
const checks: [string, string, string[]][] = [
  ['types of the web', 'tsc', ['-p', 'web/tsconfig.json']],
  ['lint', 'oxlint', ['--deny-warnings']],
  ['types', 'tsc', ['-p', 'tsconfig.json']],
  ['unit tests', 'vitest', ['run', '--project', 'unit', '--reporter=dot']],
  ['unused code', 'knip', ['--no-progress']],
  ['format', 'oxfmt', ['--check']],
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
const left = checks.values()
async function runThoseLeft(): Promise<void> {
  for (const [name, command, args] of left) {
    const began = performance.now()
    const { ok, output } = await run(command, args)
    console.log(`${ok ? '✓' : '✗'} ${name} (${((performance.now() - began) / 1000).toFixed(1)} s)`)
    if (!ok) console.log(output.trim())
    failed ||= !ok
  }
}
await Promise.all([runThoseLeft(), runThoseLeft()])
process.exit(failed ? 1 : 0)

import { parseArgs } from 'node:util'
import { changing, confirm, optionTypes, type Command } from './admin/command.ts'
import { commands, groups } from './admin/commands.ts'
import { rejectNpmLines, write } from './admin/output.ts'
import { identify, OperatorError } from './operated-system.ts'
import { owningServices, urlSetting } from './services.ts'

const heading = (name: string, { takes = '' }: Command) => `${name} ${takes}`.trimEnd()

function describe(name: string, command: Command): string {
  return `  ${heading(name, command)}\n      ${command.does}`
}

const usage = `npm run admin -- <command>

${Object.entries(groups)
  .map(([group, of]) =>
    [`${group}:`, ...Object.entries(of).map(([name, command]) => describe(name, command))].join('\n'),
  )
  .join('\n\n')}

Options:
  --json, --csv, --output FILE   for commands that list: another format than a table, and a file
  --dry-run                      for commands that change something: shows what would be done, and does nothing
  --yes                          for commands that cannot be undone: does not ask first, which needs a terminal
  <command> --help               explains one command

Each command first prints, on the error output, the system it acts on. Without settings, that is the one that npm start
runs in this folder. To choose another, set ${owningServices.map(urlSetting).join(', ')}, SITE_URL and
ADMIN_SECRET (or ADMIN_SECRET_FILE), for accounts IDENTITY_POOL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY as well, and for
streams NATS_URL and the operator's NATS_PASSWORD. Commands that change something also need its name in SYSTEM_NAME.
  docker-compose    docker-compose run --rm admin <command>
  Kubernetes        kubectl exec -it deploy/admin -- node deploy/local/src/admin.ts <command>`

function help(name: string, command: Command): string {
  const options = optionsOf(command).filter((option) => option !== 'help')
  return [
    `npm run admin -- ${heading(name, command)}`,
    '',
    `It ${command.does}.`,
    ...(command.destroys === undefined ? [] : [command.destroys]),
    ...(options.length === 0 ? [] : ['', `Options: ${options.map((option) => `--${option}`).join(', ')}`]),
  ].join('\n')
}

function optionsOf({ options = [], lists, changes, destroys }: Command): readonly string[] {
  return [
    'help',
    ...options,
    ...(lists === true ? ['json', 'csv', 'output'] : []),
    ...(changes === true ? ['dry-run'] : []),
    ...(destroys === undefined ? [] : ['yes']),
  ]
}

/** The number of arguments that a command takes. */
function countArguments({ takes = '' }: Command): number {
  return takes.includes('…') ? Infinity : (takes.match(/<[^>]*>|\[[^\]]*\]/g)?.length ?? 0)
}

/** @throws OperatorError for arguments and options that would be ignored */
function rejectSurplus(name: string, command: Command, words: string[], given: string[]): void {
  const known = optionsOf(command)
  const surplus = [
    ...words.slice(countArguments(command)),
    ...given.filter((option) => !known.includes(option)).map((option) => `--${option}`),
  ]
  if (surplus.length > 0)
    throw new OperatorError(`${name} does not take ${surplus.join(' ')}. Quote values with spaces.`)
}

/** Finds the command of the first two words, or of the first one. @throws OperatorError */
function findCommand(positionals: string[]): { name: string; words: string[]; command: Command } {
  for (const length of [2, 1]) {
    const name = positionals.slice(0, length).join(' ')
    const command = Object.hasOwn(commands, name) ? commands[name] : undefined
    if (command) return { name, command, words: positionals.slice(length) }
  }
  throw new OperatorError(`Unknown command ${positionals[0]}.\n\n${usage}`)
}

async function main(): Promise<void> {
  const { values, positionals, tokens } = parseArgs({ allowPositionals: true, tokens: true, options: optionTypes })
  if (positionals.length === 0) return console.log(usage)
  const { name, words, command } = findCommand(positionals)
  if (values.help) return console.log(help(name, command))
  rejectSurplus(
    name,
    command,
    words,
    tokens.flatMap((token) => (token.kind === 'option' ? [token.name] : [])),
  )
  rejectNpmLines(values)
  if (values.json && values.csv) throw new OperatorError('--json or --csv, not both.')
  const dryRun = values['dry-run']
  const of = typeof command.of === 'function' ? command.of(words) : command.of
  const services = of.length === 0 ? [] : await identify(of, { changes: command.changes === true && !dryRun })
  if (command.destroys !== undefined && !dryRun && !values.yes) await confirm(command.destroys)
  const output = await command.run({ words, options: values, services, ...changing(dryRun) })
  // A change that was not made has no result.
  const isNothing =
    output === undefined || (typeof output === 'object' && 'value' in output && output.value === undefined)
  if (!isNothing) await write(output, values)
}

try {
  await main()
} catch (error) {
  if (error instanceof OperatorError) console.error(error.message)
  // An unknown option.
  else if ((error as { code?: string }).code?.startsWith('ERR_PARSE_ARGS'))
    console.error(`${(error as Error).message}\n\n${usage}`)
  else throw error
  process.exitCode = 1
}

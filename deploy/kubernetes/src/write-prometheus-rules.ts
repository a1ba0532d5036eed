import { writeFile } from 'node:fs/promises'
import { composeRules, rulesFile } from './prometheus-rules.ts'

await writeFile(rulesFile, await composeRules())

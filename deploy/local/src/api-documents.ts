import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, relative } from 'node:path'
import { composeDocuments } from './compose-api-documents.ts'
import { root } from './settings.ts'

/** `npm run api-documents`: writes the OpenAPI documents of all processes and the AsyncAPI document of all events to `docs/`. */
for (const [path, text] of await composeDocuments()) {
  await mkdir(dirname(path), { recursive: true })
  const isNew = (await readFile(path, 'utf8').catch(() => '')) !== text
  if (isNew) await writeFile(path, text)
  console.log(`${relative(root, path)} ${isNew ? 'is written' : 'is current'}`)
}

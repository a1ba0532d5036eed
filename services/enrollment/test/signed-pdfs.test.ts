import { createHash } from 'node:crypto'
import { cp, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import {
  kitReady,
  registrationSchema,
  waiverSchema,
  waiverSigned,
  type Registration,
} from '@robokids/contracts/enrollment'
import { eventually, testBed, type TestBed } from '@robokids/test/bed'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { enrollment } from '../src/app.ts'
import { spawnEnrollment, type EnrollmentProcess } from './processes.ts'
import { codeOf, EnrollmentFixture } from './fixture.ts'

let bed: TestBed
beforeAll(async () => {
  bed = await testBed()
})
afterAll(() => bed.stop())

const source = fileURLToPath(new URL('..', import.meta.url))
const typesetting = fileURLToPath(new URL('../../../typesetting', import.meta.url))
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

/** A copy of the service without its fonts, which a test can break and repair while it runs. */
class Copy {
  readonly folder: string

  private constructor(folder: string) {
    this.folder = folder
  }

  static async make(): Promise<Copy> {
    const around = await mkdtemp(join(tmpdir(), 'enrollment-'))
    onTestFinished(() => rm(around, { recursive: true }))
    await symlink(modules, join(around, 'node_modules'))
    const folder = join(around, 'enrollment')
    for (const part of ['src', 'migrations', 'waiver', 'package.json']) {
      await cp(join(source, part), join(folder, part), { recursive: true })
    }
    for (const part of ['src', 'package.json']) {
      await cp(join(typesetting, part), join(around, 'typesetting', part), { recursive: true })
    }
    await mkdir(join(folder, 'node_modules/@robokids'), { recursive: true })
    await symlink(join(around, 'typesetting'), join(folder, 'node_modules/@robokids/typesetting'))
    return new Copy(folder)
  }

  get main(): string {
    return join(this.folder, 'src/main.ts')
  }

  addFonts(): Promise<void> {
    return symlink(join(typesetting, 'fonts'), join(this.folder, '../typesetting/fonts'))
  }

  breakWorker(code: string): Promise<void> {
    return writeFile(join(this.folder, 'src/waivers/signed-waiver-worker.ts'), code)
  }

  repairWorker(): Promise<void> {
    return cp(
      join(source, 'src/waivers/signed-waiver-worker.ts'),
      join(this.folder, 'src/waivers/signed-waiver-worker.ts'),
    )
  }
}

/** Paid registrations, in a database that no process is using any more. */
async function paidFamilies(count: number) {
  const service = await bed.start(enrollment)
  const fixture = new EnrollmentFixture(bed, service)
  const session = await fixture.session()
  const families: Registration[] = []
  for (let index = 0; index < count; index += 1) families.push(await fixture.enroll(session))
  await service.stop()
  const sql = postgres(service.databaseUrl, { max: 1, onnotice: () => {} })
  onTestFinished(() => sql.end({ timeout: 1 }))
  const run = async (copy?: Copy): Promise<EnrollmentProcess> => {
    const process = await spawnEnrollment({ DATABASE_URL: service.databaseUrl, NATS_URL: bed.nats.url }, copy?.main)
    onTestFinished(() => process.kill())
    return process
  }
  return { fixture, families, sql, run }
}

const signedEvents = ({ registrationId }: Registration) =>
  bed.bus.all(waiverSigned, (data) => data.registrationId === registrationId)

async function pdfOf(process: EnrollmentProcess, waiverId: string) {
  const answer = await fetch(`${process.url}/waivers/${waiverId}.pdf`)
  return { status: answer.status, bytes: Buffer.from(await answer.arrayBuffer()) }
}

describe('a signature whose PDF cannot be made', () => {
  it.each([
    ['the fonts are missing', async () => {}, (copy: Copy) => copy.addFonts()],
    [
      'the thread that makes it dies',
      async (copy: Copy) => {
        await copy.addFonts()
        await copy.breakWorker('process.exit(7)')
      },
      (copy: Copy) => copy.repairWorker(),
    ],
  ])('because %s is stored with its evidence, and the PDF follows after the repair', async (_why, damage, repair) => {
    const { fixture, families, sql, run } = await paidFamilies(1)
    const [family] = families as [Registration]
    const copy = await Copy.make()
    await damage(copy)
    const process = await run(copy)
    const answer = await fixture.sign(family, {}, process.url)
    expect(answer.status).toBe(200)
    const waiver = waiverSchema.parse(answer.body)
    const path = `/registrations/${family.registrationId}`
    const after = registrationSchema.parse((await fixture.call('GET', path, undefined, {}, process.url)).body)
    expect(after).toMatchObject({
      status: 'waiver_signed',
      kit: { status: 'ready' },
      waiver: { waiverId: waiver.waiverId },
    })
    await bed.bus.seen(kitReady, ({ registrationId }) => registrationId === family.registrationId)
    // One attempt was made, and the next one is scheduled.
    await eventually(
      async () => (await sql`select from waivers where pdf_tries > 0 and pdf_due_at > now()`).length === 1,
    )
    const [evidence] = await sql`select * from waivers`
    expect(evidence).toMatchObject({
      id: waiver.waiverId,
      guardian_name: family.guardianName,
      document_sha256: waiver.documentSha256,
      ip_address: '198.51.100.7',
      user_agent: 'Mozilla/5.0 (a test)',
      signed_pdf: null,
    })
    const early = await fixture.call('GET', `/waivers/${waiver.waiverId}.pdf`, undefined, {}, process.url)
    expect([early.status, codeOf(early)]).toEqual([409, 'signed_pdf_not_ready'])
    await eventually(async () => {
      const metrics = await (await fetch(`${process.url}/metrics`)).text()
      expect(metrics).toContain('\nsigned_pdfs_pending 1\n')
      return /\nsigned_pdfs_total\{outcome="failed"\} [1-9]/.test(metrics)
    })
    expect(signedEvents(family)).toEqual([])
    // Signing again in the meantime returns the same.
    expect(await fixture.sign(family, {}, process.url)).toMatchObject({ status: 200, body: answer.body })

    await repair(copy)
    const event = await bed.bus.seen(waiverSigned, (data) => data.registrationId === family.registrationId, 30_000)
    expect(event.data).toMatchObject({ waiverId: waiver.waiverId, signedAt: waiver.signedAt })
    const { status, bytes } = await pdfOf(process, waiver.waiverId)
    expect([status, bytes.subarray(0, 5).toString()]).toEqual([200, '%PDF-'])
    await process.stop()
    expect(signedEvents(family)).toHaveLength(1)
  })

  it('because its process was killed gets its PDF from another process, with the document that was shown', async () => {
    const { fixture, families, sql, run } = await paidFamilies(1)
    const [family] = families as [Registration]
    const copy = await Copy.make()
    await copy.addFonts()
    await copy.breakWorker(`setInterval(() => {}, 1000)`)
    const first = await run(copy)
    const shown = Buffer.from(await (await fetch(`${first.url}/waiver.pdf`)).arrayBuffer())
    const waiver = waiverSchema.parse((await fixture.sign(family, {}, first.url)).body)
    await eventually(async () => (await sql`select from waivers where pdf_tries = 1`).length === 1)
    await first.kill()
    // The next version shows another document.
    await copy.repairWorker()
    await writeFile(join(copy.folder, 'waiver/waiver.pdf'), Buffer.concat([shown, Buffer.from('\n% revised\n')]))
    const second = await run(copy)
    await bed.bus.seen(waiverSigned, (data) => data.registrationId === family.registrationId, 30_000)
    const { bytes } = await pdfOf(second, waiver.waiverId)
    const sha256 = createHash('sha256').update(bytes.subarray(0, shown.length)).digest('hex')
    expect(sha256).toBe(waiver.documentSha256)
    expect(await sql`select from waiver_documents where sha256 = ${waiver.documentSha256}`).toHaveLength(1)
    await second.stop()
    expect(signedEvents(family)).toHaveLength(1)
  })

  it('does not block others, which two processes publish once', async () => {
    const { fixture, families, sql, run } = await paidFamilies(4)
    const [broken, ...others] = families as [Registration, ...Registration[]]
    const [one, two] = [await run(), await run()]
    // Refers to a document that does not exist.
    for (const [index, family] of families.entries()) {
      expect((await fixture.sign(family, {}, (index % 2 === 0 ? one : two).url)).status).toBe(200)
      if (family === broken) {
        await sql`update waivers set document_sha256 = 'gone', signed_pdf = null, pdf_due_at = now() - interval '1 day'
          where registration_id = ${family.registrationId}`
      }
    }
    for (const { registrationId } of others) {
      await bed.bus.seen(waiverSigned, (data) => data.registrationId === registrationId)
    }
    await Promise.all([one.stop(), two.stop()])
    for (const family of others) expect(signedEvents(family)).toHaveLength(1)
  })
})

describe('a signature of long names in many scripts', () => {
  it('sent many times concurrently gets one PDF, without blocking other requests', async () => {
    const service = await bed.start(enrollment)
    const fixture = new EnrollmentFixture(bed, service)
    const scripts = '张伟Nguyễn Ánh عليعدي한글さくらअनिताஅனிதாଅନିତାഅനിതཆེན་མོ🤖'
    const name = (index: number) => `${index}${scripts.repeat(3)}`.slice(0, 60)
    const siblings = Array.from({ length: 9 }, (_, index) => ({ childName: name(index), childAge: 9 }))
    const family = await fixture.enroll(await fixture.session(), { siblings, guardianName: name(10) })
    const answers = await Promise.all(Array.from({ length: 20 }, () => fixture.sign(family)))
    for (const answer of answers) expect(answer).toMatchObject({ status: 200, body: answers[0]?.body })
    const { waiverId } = waiverSchema.parse(answers[0]?.body)
    let answeredMeanwhile = 0
    while ((await fetch(`${service.url}/waivers/${waiverId}.pdf`)).status === 409) {
      await fixture.call('GET', '/available-slots')
      answeredMeanwhile += 1
    }
    expect(answeredMeanwhile).toBeGreaterThan(5)
    await fixture.waitForEvents(waiverSigned, family.registrationId)
    const metrics = await (await fetch(`${service.url}/metrics`)).text()
    expect(metrics).toContain('\nsigned_pdfs_total{outcome="made"} 1\n')
    expect(metrics).not.toContain('signed_pdfs_total{outcome="failed"}')
  })
})

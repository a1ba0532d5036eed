import { readFileSync } from 'node:fs'
import { waiverSigned, type WaiverBlock } from '@robokids/contracts/enrollment'
import { readTaggedPdf, type TaggedPart } from '@robokids/test/tagged-pdf'
import { describe, expect, it } from 'vitest'
import { renderSignedWaiver, type Signature } from '../src/waivers/signed-waiver.ts'
import { waiverDocument } from '../src/waivers/waiver-document.ts'

const titleOfWaiver = 'Robo Kids Learning: Participation Agreement, Release of Liability and Assumption of Risk'
const textsOf = (parts: TaggedPart[], role: string) =>
  parts.filter((part) => part.role === role).map(({ text }) => text)
const linesOf = (kind: WaiverBlock['kind']) =>
  waiverDocument().blocks.flatMap((block) => (block.kind === kind ? block.lines : []))

const sample = new URL('../../../contracts/src/samples/waiver.signed.json', import.meta.url)

function signature(names: string[]): Signature {
  const { data } = waiverSigned.schema.parse(JSON.parse(readFileSync(sample, 'utf8')))
  return {
    waiverId: data.waiverId,
    facts: { ...data, children: names.map((childName) => ({ childName, childAge: 8 })) },
    signedAt: data.signedAt,
    documentSha256: waiverDocument().sha256,
    ipAddress: '203.0.113.9',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
  }
}

describe('the waiver document', () => {
  it('has a structure tree for screen readers with each part in order and no other words', async () => {
    const { blocks, pdf } = waiverDocument()
    const { text, parts, ...rest } = await readTaggedPdf(pdf)
    expect(rest).toEqual({ title: titleOfWaiver, language: 'en-US', displaysTitle: true, isMarked: true, untagged: '' })
    expect(textsOf(parts, 'H1')).toEqual(linesOf('title'))
    expect(textsOf(parts, 'H2')).toEqual(linesOf('heading'))
    expect(textsOf(parts, 'LBody')).toEqual(linesOf('list'))
    expect(parts.filter(({ role }) => role === 'L')).toHaveLength(blocks.filter(({ kind }) => kind === 'list').length)
    const written = blocks.flatMap(({ kind, lines }) => {
      if (kind === 'list') return lines.map((line) => `• ${line}`)
      return kind === 'company' ? lines.map((line) => line.toUpperCase()) : lines
    })
    expect(text).toBe(written.join(' '))
  })
})

describe('a signed waiver', () => {
  it('has a structure tree from the agreement to the signature, with each fact’s name', async () => {
    const shown = await readTaggedPdf(waiverDocument().pdf)
    const names = Array.from({ length: 10 }, (_, index) => `${index}${'é'.repeat(99)}`)
    for (const children of [['Ivo'], ['अनिता शर्मा', 'עדי לוי'], names]) {
      const { text, parts, ...rest } = await readTaggedPdf(
        await renderSignedWaiver(signature(children), waiverDocument().pdf),
      )
      const title = `Signed: ${titleOfWaiver}`
      expect(rest).toEqual({ title, language: 'en-US', displaysTitle: true, isMarked: true, untagged: '' })
      expect(textsOf(parts, 'H1')).toEqual([...textsOf(shown.parts, 'H1'), 'Signature page'])
      expect(text.slice(0, shown.text.length)).toBe(shown.text)
      const facts = text.slice(shown.text.length)
      expect(facts).toMatch(/^ ROBO KIDS LEARNING Signature page Signed by .*The pages before this one are .* above\.$/)
      expect(facts).toContain('Email maren.holt@example.com Address 14 Alder Way San Mateo, CA 02139 Class Level 1')
      expect(textsOf(parts, 'Lbl')).toContain('Document (SHA-256)')
    }
  })
})

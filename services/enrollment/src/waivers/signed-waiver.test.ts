import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { getDocumentProxy, getResolvedPDFJS } from 'unpdf'
import { describe, expect, it } from 'vitest'
import { renderSignedWaiver, type Signature } from './signed-waiver.ts'
import { signableDocuments, waiverDocument } from './waiver-document.ts'

const unusualNames = [
  '张伟',
  '陶喆 䶮',
  'Nguyễn Thị Ánh',
  'Αλέξης Παπάς',
  'Олена Шевченко',
  'עדי לוי',
  'محمد',
  'محمد علي',
  '한글 이름',
  'さくら',
  'Ivo 🤖',
  "D'Arcy & Jo <3",
  'Zoë Ångström-Łukasiewicz',
]

function signature(names: string[], changes: Partial<Signature> = {}): Signature {
  return {
    waiverId: '0196f3c0-0000-7000-8000-000000000001',
    facts: {
      registrationId: '0196f3c0-0000-7000-8000-000000000002',
      guardianName: names[0] ?? 'Maren Holt',
      email: 'maren.holt@example.com',
      children: names.map((childName, index) => ({ childName, childAge: 7 + index })),
      address: {
        addressLine1: '12 Harbor Way',
        addressLine2: 'Apt 4',
        city: 'Cambridge',
        state: 'MA',
        zipCode: '02139',
      },
      classSessionId: '0196f3c0-0000-7000-8000-000000000003',
      classType: 'basic',
      levelTitle: 'Level 1 Foundations',
      startDate: '2027-01-08',
      startTime: '16:00',
      durationMinutes: 60,
      timeZone: 'America/Los_Angeles',
    },
    signedAt: '2026-11-28T03:15:30.123Z',
    documentSha256: waiverDocument().sha256,
    ipAddress: '203.0.113.9',
    userAgent: 'Mozilla/5.0 (X11; Linux x86_64)',
    ...changes,
  }
}

function render(one: Signature): Promise<Uint8Array> {
  return renderSignedWaiver(one, waiverDocument().pdf)
}

interface PageContent {
  text: string
  /** The codes of the drawn glyphs; 0 is the empty box for a character that the font lacks. */
  glyphs: number[]
}

async function readPages(pdf: Uint8Array): Promise<PageContent[]> {
  const { OPS } = await getResolvedPDFJS()
  const document = await getDocumentProxy(pdf.slice())
  const pages: PageContent[] = []
  for (let number = 1; number <= document.numPages; number += 1) {
    const page = await document.getPage(number)
    const { items } = await page.getTextContent()
    const operators = await page.getOperatorList()
    const shown = operators.argsArray.filter((_, index) => operators.fnArray[index] === OPS.showText) as unknown[][][]
    const glyphs = shown
      .flatMap(([drawn]) => drawn ?? [])
      .filter((glyph) => typeof glyph === 'object' && glyph !== null)
    pages.push({
      text: items.map((item) => ('str' in item ? item.str + (item.hasEOL ? '\n' : '') : '')).join(''),
      glyphs: (glyphs as { originalCharCode: number }[]).map((glyph) => glyph.originalCharCode),
    })
  }
  return pages
}

function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

const untagged = new URL('../../waiver/untagged.pdf', import.meta.url)

describe('the waiver document', () => {
  it('is the same file with the hash of its bytes on every call', () => {
    const { pdf, sha256: hash } = waiverDocument()
    expect(waiverDocument().pdf).toBe(pdf)
    expect(hash).toBe(sha256(pdf))
  })

  it('has the same words as the file that was shown before', async () => {
    const [shown, before] = [waiverDocument().pdf, new Uint8Array(await readFile(untagged))]
    const words = async (pdf: Uint8Array) =>
      (await readPages(pdf)).map(({ text }) => text.replaceAll(/\s/gu, '')).join('')
    expect(await words(before)).toBe(await words(shown))
    expect(signableDocuments()).toEqual([sha256(shown), sha256(before)])
  })
})

describe('a signed waiver', () => {
  it('begins with the shown document, byte for byte', async () => {
    const signed = await render(signature(['Ivo']))
    const shown = waiverDocument()
    expect(sha256(signed.subarray(0, shown.pdf.length))).toBe(shown.sha256)
    const [before, after] = [await readPages(shown.pdf), await readPages(signed)]
    expect(after.slice(0, before.length)).toEqual(before)
    expect(after).toHaveLength(before.length + 1)
  })

  it('can also be made from an older, untagged document', async () => {
    const before = new Uint8Array(await readFile(untagged))
    const signed = await renderSignedWaiver(signature(['Ivo'], { documentSha256: sha256(before) }), before)
    expect(sha256(signed.subarray(0, before.length))).toBe(sha256(before))
    expect((await readPages(signed)).at(-1)?.text).toContain('Ivo, age 7')
  })

  it('states on its last page who signed what, for whom, when and from where', async () => {
    const pages = await readPages(await render(signature(['Maren Holt', 'Ivo'])))
    const text = pages.at(-1)?.text
    for (const fact of [
      'Maren Holt',
      'Ivo, age 8',
      'maren.holt@example.com',
      '12 Harbor Way',
      'Apt 4',
      'Cambridge, MA 02139',
      'Level 1 Foundations',
      'Friday, January 8, 2027, 4:00 PM Pacific',
      'Friday, November 27, 2026 at 7:15:30 PM PST',
      '2026-11-28T03:15:30.123Z (UTC)',
      waiverDocument().sha256,
      '203.0.113.9',
      'Mozilla/5.0 (X11; Linux x86_64)',
    ]) {
      expect(text).toContain(fact)
    }
  })

  it.each(unusualNames)('shows %s as it was typed, without an empty box', async (name) => {
    const pages = await readPages(await render(signature([name])))
    const page = pages.at(-1)
    expect(page?.text.match(new RegExp(RegExp.escape(name), 'gu'))).toHaveLength(2)
    expect(page?.glyphs.length).toBeGreaterThan(200)
    expect(page?.glyphs).not.toContain(0)
  })

  it.each([
    ['Devanagari', 'अनिता शर्मा'],
    ['Odia', 'ଅନିତା ପଣ୍ଡା'],
    ['Sinhala', 'අනුෂ්කා පෙරේරා'],
    ['Lao', 'ສົມໄຊ ວົງສາ'],
    ['Burmese', 'အောင်မြင့် ကျော်'],
    ['Tibetan', 'བསྟན་འཛིན་རྒྱ་མཚོ'],
    ['Mongolian', 'ᠪᠠᠲᠤ'],
    ['Syriac', 'ܐܦܪܝܡ'],
    ['Thaana', 'އަޙްމަދު'],
    ['Cherokee', 'ᏍᏏᏉᏯ'],
  ])('draws a name in %s with letters, none spelled out', async (_script, name) => {
    const page = (await readPages(await render(signature([name])))).at(-1)
    expect(page?.text).not.toContain('[U+')
    expect(page?.glyphs).not.toContain(0)
  })

  it('spells out a character that is in no font', async () => {
    const pages = await readPages(await render(signature(['Ivo \u{10fffd}'])))
    const page = pages.at(-1)
    expect(page?.text).toContain('Ivo [U+10FFFD]')
    expect(page?.glyphs).not.toContain(0)
  })

  it('draws decomposed letters like composed ones', async () => {
    const name = 'Nguyễn Thị Ánh'
    const page = (await readPages(await render(signature([name.normalize('NFD')])))).at(-1)
    expect(page?.text).toContain(name.normalize('NFC'))
  })

  it.each(['Ọ̀ṣun Adébáyọ̀', 'M̃aria N̂gọc', 'Ė́va', 'ɛ́kua Ɔ̀wusu', 'Ǫ́ra', 'ё̄жик', 'ᾱ́ρης'])(
    'keeps the accents of %s on their letters, and all other letters of the page unchanged',
    async (name) => {
      const page = (await readPages(await render(signature([name])))).at(-1)
      const letters = (text = '') => text.normalize('NFC').replaceAll(/\s/gu, '')
      expect(letters(page?.text).split(letters(name))).toHaveLength(3)
      expect(page?.text).toContain('parent or legal guardian, 18 or older')
      expect(page?.text).toContain('Level 1 Foundations')
      expect(page?.glyphs).not.toContain(0)
    },
  )

  it('continues on another page if one is too short, and loses nothing', async () => {
    const names = Array.from({ length: 10 }, (_, index) => `${index}${'é'.repeat(99)}`)
    const userAgent = Array.from({ length: 100 }, (_, index) => `part/${index}`).join(' ')
    const pages = await readPages(await render(signature(names, { userAgent })))
    expect(pages.length).toBeGreaterThan(3)
    const letters = pages
      .map((page) => page.text)
      .join('')
      .replaceAll(/\s/gu, '')
    for (const name of names) expect(letters).toContain(name)
    expect(letters).toContain(userAgent.replaceAll(' ', ''))
  })

  it('is the same file for the same signature', async () => {
    const once = await render(signature(unusualNames))
    expect(sha256(await render(signature(unusualNames)))).toBe(sha256(once))
  })

  it('rejects a document that does not match the signature’s hash', async () => {
    await expect(render(signature(['Ivo'], { documentSha256: '0'.repeat(64) }))).rejects.toThrow('no document')
  })
})

import { describe, expect, it } from 'vitest'
import { renderMail } from './render-mail.ts'
import { pictures } from './pictures.ts'

const mail = renderMail({
  subject: ['A kit'],
  heading: 'Your kit is on its way',
  picture: pictures.rover,
  opening: [['Hello,']],
  facts: [{ label: 'Carrier', lines: [['UPS']] }],
  step: { text: ['See how it is doing:'], label: 'See your kit', url: 'https://school.example/kit?a=1&b=2' },
  aside: { text: ['Or else:'], label: 'Send it back', url: 'https://school.example/back' },
  closing: [['Questions?']],
})

describe('a rendered mail', () => {
  it('has each link on its own line in plain text, after its label', () => {
    expect(mail.text).toContain(`
Carrier:
  UPS

See how it is doing:

See your kit:
https://school.example/kit?a=1&b=2

Or else:

Send it back:
https://school.example/back

Questions?
`)
    expect(mail.text).not.toMatch(/[<>]|cid:|undefined/)
  })

  it('has one button, whose table cell has the color and padding for programs that do not style links', () => {
    const [button, ...more] = mail.html.match(/<td class="button"[^]*?<\/td>/g) ?? []
    expect(more).toEqual([])
    expect(button).toMatch(/bgcolor="#ff8126".*mso-padding-alt:13px 24px/)
    expect(button).toContain('href="https://school.example/kit?a=1&amp;b=2"')
    expect(button).toContain('>See your kit</a>')
  })

  it('has an alternative text for its picture, and an empty one for the logo beside the name', () => {
    expect(mail.html).toContain('alt="The green rover robot of Level 1"')
    expect(mail.html.match(/Robo Kids Learning/g)).toHaveLength(2)
    expect(mail.images.map(({ filename }) => filename)).toEqual(['mark.png', 'rover.png'])
  })

  it('has a dark mode color for every color', () => {
    expect(mail.html).toContain('<meta name="color-scheme" content="light dark">')
    const known = new Set([...mail.html.matchAll(/^\.(\w+)\{/gm)].map(([, name]) => name))
    const coloured = mail.html.match(/<\w+ [^>]*(?<!-)(?:color|background-color):[^>]*>/g) ?? []
    expect(coloured.length).toBeGreaterThan(8)
    for (const element of coloured.filter((one) => !one.startsWith('<img'))) {
      const names = /class="([^"]*)"/.exec(element)?.[1]?.split(' ') ?? []
      expect(names.some((name) => known.has(name))).toBe(true)
    }
  })
})

import { asHtml, asText, escapeHtml, type Words } from './words.ts'

/** What a mail says, from which both of its parts are made: they cannot tell different things. */
export interface Letter {
  subject: Words
  heading: string
  opening: Words[]
  /** What is to be copied from the mail. */
  code?: { label: string; value: string }
  facts: { label: string; lines: Words[] }[]
  /** The next step, with the one link to press. */
  step?: { text: Words; label: string; url: string }
  /** What else can be done, with a quieter link. */
  aside?: { text: Words; label: string; url: string }
  closing: Words[]
}

export interface RenderedLetter {
  subject: string
  text: string
  html: string
}

const company = 'Robo Kids Learning'
const signature = ['Warm regards,', `The ${company} team`]

function renderText({ heading, opening, code, facts, step, aside, closing }: Letter): string {
  const told = facts.map(({ label, lines }) => [`${label}:`, ...lines.map((line) => `  ${asText(line)}`)].join('\n'))
  return [
    heading,
    '='.repeat(heading.length),
    '',
    ...opening.flatMap((words) => [asText(words), '']),
    ...(code ? [`${code.label}:`, '', code.value, ''] : []),
    ...(told.length > 0 ? [told.join('\n'), ''] : []),
    ...[step, aside].flatMap((one) => (one ? [asText(one.text), '', `${one.label}:`, one.url, ''] : [])),
    ...closing.flatMap((words) => [asText(words), '']),
    ...signature,
    '',
  ].join('\n')
}

// The site's colours. Mail programs read styles only where they are used.
const ink = '#12233d'
const soft = '#4a5a73'
const line = '#d8dce3'
const signal = '#ff8126'
const font = "font-family:'Atkinson Hyperlegible Next','Segoe UI',Helvetica,Arial,sans-serif"
const body = `${font};font-size:16px;line-height:1.55;color:${ink}`

function paragraph(words: Words): string {
  return `<p style="margin:0 0 16px;${body}">${asHtml(words)}</p>`
}

function factRow({ label, lines }: Letter['facts'][number], index: number): string {
  const border = index === 0 ? '' : `border-top:1px solid ${line};`
  return `<tr>
<th scope="row" align="left" valign="top" width="30%" style="${border}padding:10px 12px 10px 0;${font};font-size:14px;line-height:1.6;font-weight:600;color:${soft}">${escapeHtml(label)}</th>
<td valign="top" style="${border}padding:10px 0;${font};font-size:16px;line-height:1.5;color:${ink};overflow-wrap:anywhere;word-break:break-word">${lines.map(asHtml).join('<br>')}</td>
</tr>`
}

function renderCode({ label, value }: NonNullable<Letter['code']>): string {
  return `<p style="margin:0 0 4px;${font};font-size:14px;line-height:1.6;font-weight:600;color:${soft}">${escapeHtml(label)}</p>
<p style="margin:0 0 20px"><code style="display:inline-block;padding:8px 16px;border:1px solid ${line};border-radius:10px;background-color:#f2f1ea;font-family:Menlo,Consolas,monospace;font-size:26px;line-height:1.4;font-weight:700;color:${ink};overflow-wrap:anywhere">${escapeHtml(value)}</code></p>`
}

function renderStep({ text, label, url }: NonNullable<Letter['step']>): string {
  const href = escapeHtml(url)
  return `${paragraph(text)}
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 24px"><tr>
<td align="center" bgcolor="${signal}" style="border-radius:10px"><a href="${href}" style="display:inline-block;padding:13px 24px;${font};font-size:16px;line-height:1.3;font-weight:700;color:${ink};text-decoration:none;border-radius:10px">${escapeHtml(label)}</a></td>
</tr></table>`
}

function renderAside({ text, label, url }: NonNullable<Letter['aside']>): string {
  return `${paragraph(text)}
<p style="margin:0 0 20px;${body}"><a href="${escapeHtml(url)}" style="color:${ink};text-decoration:underline">${escapeHtml(label)}</a></p>`
}

function renderHtml(letter: Letter): string {
  const { subject, heading, opening, code, facts, step, aside, closing } = letter
  const table = `<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:8px 0 24px;border-top:2px solid ${ink};border-bottom:1px solid ${line};table-layout:fixed">
${facts.map(factRow).join('\n')}
</table>`
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light">
<meta name="format-detection" content="telephone=no">
<title>${escapeHtml(asText(subject))}</title>
</head>
<body style="margin:0;padding:0;background-color:#f2f1ea">
<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" bgcolor="#f2f1ea"><tr><td align="center" style="padding:24px 12px">
<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" style="max-width:600px;background-color:#ffffff;border:1px solid ${line};border-radius:12px">
<tr><td style="padding:20px 28px 0;border-top:4px solid ${signal};border-radius:12px 12px 0 0;${font};font-size:14px;line-height:1.4;font-weight:700;color:${soft}">${company}</td></tr>
<tr><td style="padding:10px 28px 12px">
<h1 style="margin:0 0 16px;${font};font-size:26px;line-height:1.25;font-weight:700;color:${ink}">${escapeHtml(heading)}</h1>
${opening.map(paragraph).join('\n')}
${code ? renderCode(code) : ''}
${facts.length > 0 ? table : ''}
${step ? renderStep(step) : ''}
${aside ? renderAside(aside) : ''}
${closing.map(paragraph).join('\n')}
<p style="margin:8px 0 16px;${body}">${signature.map(escapeHtml).join('<br>')}</p>
</td></tr>
</table>
</td></tr></table>
</body>
</html>
`
}

export function renderLetter(letter: Letter): RenderedLetter {
  return { subject: asText(letter.subject), text: renderText(letter), html: renderHtml(letter) }
}

import { logo, type Image, type Picture } from './pictures.ts'
import { asHtml, asText, escapeHtml, type RichText } from './rich-text.ts'

/** The content of a mail. Its text and HTML parts are both rendered from it, so they cannot differ. */
export interface MailContent {
  subject: RichText
  heading: string
  picture?: Picture
  opening: RichText[]
  /** A code to copy. */
  code?: { label: string; value: string }
  facts: { label: string; lines: RichText[] }[]
  /** The lines of a quoted message, as typed. */
  quote?: RichText[]
  /** The next step, with the main link. */
  step?: { text: RichText; label: string; url: string }
  /** A secondary step, with a plain link. */
  aside?: { text: RichText; label: string; url: string }
  closing: RichText[]
}

export interface RenderedMail {
  subject: string
  text: string
  html: string
  /** The images that the HTML references by content id. */
  images: Image[]
}

const company = 'Robo Kids Learning'
const signature = ['Warm regards,', `The ${company} team`]

function renderText({ heading, opening, code, facts, quote, step, aside, closing }: MailContent): string {
  const factsText = facts.map(({ label, lines }) =>
    [`${label}:`, ...lines.map((line) => `  ${asText(line)}`)].join('\n'),
  )
  return [
    heading,
    '='.repeat(heading.length),
    '',
    ...opening.flatMap((words) => [asText(words), '']),
    ...(code ? [`${code.label}:`, '', code.value, ''] : []),
    ...(factsText.length > 0 ? [factsText.join('\n'), ''] : []),
    ...(quote ? [...quote.map((words) => `> ${asText(words)}`.trimEnd()), ''] : []),
    ...[step, aside].flatMap((one) => (one ? [asText(one.text), '', `${one.label}:`, one.url, ''] : [])),
    ...closing.flatMap((words) => [asText(words), '']),
    ...signature,
    '',
  ].join('\n')
}

// The site's colors. Mail programs support most styles only inline.
const ink = '#12233d'
const muted = '#4a5a73'
const line = '#d8dce3'
const accent = '#ff8126'
const sunken = '#f2f1ea'
const font = "font-family:'Atkinson Hyperlegible Next','Segoe UI',Helvetica,Arial,sans-serif"
const body = `${font};font-size:16px;line-height:1.55;color:${ink}`

/**
 * The dark mode colors by class, for mail programs that support the media query (Apple's and some others). Those that invert
 * colors by themselves keep the button's colors or invert both of them.
 */
const dark = `@media (prefers-color-scheme:dark){
.page{background-color:#081425!important}
.card{background-color:#11243f!important;border-color:#264062!important}
.band{background-color:#16325a!important}
.ink{color:#eaf1fb!important}
.soft{color:#a9bbd4!important}
.line{border-color:#264062!important}
.sunken{background-color:#081425!important;border-color:#264062!important}
.button{background-color:#ff8f3f!important}
.pressed{color:#14202f!important}
}`

/** For Outlook on Windows, which renders with Word: it replaces missing fonts by Times and does not support `max-width`. */
const outlookOnly = (html: string) => `<!--[if mso]>${html}<![endif]-->`

function paragraph(words: RichText): string {
  return `<p class="ink" style="margin:0 0 16px;${body}">${asHtml(words)}</p>`
}

function factRow({ label, lines }: MailContent['facts'][number], index: number): string {
  const border = index === 0 ? '' : `border-top:1px solid ${line};`
  return `<tr>
<th scope="row" class="soft line" align="left" valign="top" width="30%" style="${border}padding:10px 12px 10px 0;${font};font-size:14px;line-height:1.6;font-weight:600;color:${muted}">${escapeHtml(label)}</th>
<td class="ink line" valign="top" style="${border}padding:10px 0;${font};font-size:16px;line-height:1.5;color:${ink};overflow-wrap:anywhere;word-break:break-word">${lines.map(asHtml).join('<br>')}</td>
</tr>`
}

function renderFacts(facts: MailContent['facts']): string {
  return `<table class="line" cellpadding="0" cellspacing="0" border="0" width="100%" style="margin:8px 0 24px;border-top:2px solid ${muted};border-bottom:1px solid ${line};table-layout:fixed">
${facts.map(factRow).join('\n')}
</table>`
}

function renderCode({ label, value }: NonNullable<MailContent['code']>): string {
  return `<p class="soft" style="margin:0 0 4px;${font};font-size:14px;line-height:1.6;font-weight:600;color:${muted}">${escapeHtml(label)}</p>
<p style="margin:0 0 20px"><code class="sunken ink" style="display:inline-block;padding:8px 16px;border:1px solid ${line};border-radius:10px;background-color:${sunken};font-family:Menlo,Consolas,monospace;font-size:26px;line-height:1.4;font-weight:700;color:${ink};overflow-wrap:anywhere">${escapeHtml(value)}</code></p>`
}

function renderQuote(quote: RichText[]): string {
  return `<blockquote class="line ink" style="margin:0 0 24px;padding:4px 0 4px 16px;border-left:3px solid ${line};${body};overflow-wrap:anywhere;word-break:break-word">${quote.map(asHtml).join('<br>')}</blockquote>`
}

/** Renders the button. Outlook on Windows applies color and padding to the table cell, all other programs to the link. */
function renderStep({ text, label, url }: NonNullable<MailContent['step']>): string {
  const href = escapeHtml(url)
  return `${paragraph(text)}
<table role="presentation" cellpadding="0" cellspacing="0" border="0" style="margin:4px 0 24px"><tr>
<td class="button" align="center" bgcolor="${accent}" style="border-radius:10px;background-color:${accent};mso-padding-alt:13px 24px"><a class="pressed" href="${href}" style="display:inline-block;padding:13px 24px;${font};font-size:16px;line-height:1.3;font-weight:700;color:${ink};text-decoration:none;border-radius:10px">${escapeHtml(label)}</a></td>
</tr></table>`
}

function renderAside({ text, label, url }: NonNullable<MailContent['aside']>): string {
  return `${paragraph(text)}
<p class="ink" style="margin:0 0 20px;${body}"><a class="ink" href="${escapeHtml(url)}" style="color:${ink};text-decoration:underline">${escapeHtml(label)}</a></p>`
}

/** Renders the header with logo, name and picture. The logo has no alternative text, because the name is beside it. */
function renderBand(picture: Picture | undefined): string {
  const background = picture?.background ?? '#e6f1fb'
  const robot =
    picture &&
    `<td align="right" valign="middle" width="144" style="padding-left:8px"><img src="cid:${picture.image.cid}" width="144" height="114" alt="${escapeHtml(picture.alt)}" style="display:block;border:0;border-radius:10px;${font};font-size:13px;line-height:1.3;color:${ink}"></td>`
  return `<tr><td class="band" bgcolor="${background}" style="padding:12px 28px;border-top:4px solid ${accent};border-radius:12px 12px 0 0;background-color:${background}">
<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%"><tr>
<td valign="middle" width="40"><img src="cid:${logo.cid}" width="40" height="40" alt="" style="display:block;border:0;border-radius:9px"></td>
<td class="ink" valign="middle" style="padding-left:12px;${font};font-size:17px;line-height:1.25;font-weight:700;color:${ink}">${company}</td>
${robot ?? ''}
</tr></table>
</td></tr>`
}

function renderHtml(content: MailContent): string {
  const { subject, heading, picture, opening, code, facts, quote, step, aside, closing } = content
  return `<!doctype html>
<html lang="en" dir="ltr">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width,initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="supported-color-schemes" content="light dark">
<meta name="format-detection" content="telephone=no">
<title>${escapeHtml(asText(subject))}</title>
<style>
:root{color-scheme:light dark}
${dark}
</style>
${outlookOnly('<style>p,a,td,th,h1,blockquote{font-family:Arial,sans-serif!important}</style>')}
</head>
<body class="page" style="margin:0;padding:0;background-color:${sunken}">
<table class="page" role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" bgcolor="${sunken}" style="background-color:${sunken}"><tr><td align="center" style="padding:24px 12px">
${outlookOnly('<table role="presentation" cellpadding="0" cellspacing="0" border="0" width="600"><tr><td>')}
<table class="card" role="presentation" cellpadding="0" cellspacing="0" border="0" width="100%" bgcolor="#ffffff" style="max-width:600px;background-color:#ffffff;border:1px solid ${line};border-radius:12px">
${renderBand(picture)}
<tr><td align="left" style="padding:24px 28px 12px">
<h1 class="ink" style="margin:0 0 16px;${font};font-size:26px;line-height:1.25;font-weight:700;color:${ink}">${escapeHtml(heading)}</h1>
${opening.map(paragraph).join('\n')}
${code ? renderCode(code) : ''}
${facts.length > 0 ? renderFacts(facts) : ''}
${quote ? renderQuote(quote) : ''}
${step ? renderStep(step) : ''}
${aside ? renderAside(aside) : ''}
${closing.map(paragraph).join('\n')}
<p class="ink" style="margin:8px 0 16px;${body}">${signature.map(escapeHtml).join('<br>')}</p>
</td></tr>
</table>
${outlookOnly('</td></tr></table>')}
</td></tr></table>
</body>
</html>
`
}

export function renderMail(content: MailContent): RenderedMail {
  return {
    subject: asText(content.subject),
    text: renderText(content),
    html: renderHtml(content),
    images: content.picture ? [logo, content.picture.image] : [logo],
  }
}
